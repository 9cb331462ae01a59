// Installs the crash handler, loads a plugin, and dies in it or in the host:
//   crash_main PLUGIN.so plugin|host|overflow
#include <fcntl.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "host/plugin/crash_handler.h"
#include "host/plugin/library.h"
#include "host/plugin/plugin_thread.h"

namespace {

using namespace otc::host::plugin_host;  // NOLINT: a program of one page

std::int32_t FailHere(const otc_call*, std::int32_t, otc_str, otc_str, std::uint64_t) {
  std::abort();
}

volatile int g_depth = 0;
int Overflow(int n) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(n);
  g_depth = n;
  return Overflow(n + 1) + frame[0];
}

// Runs the plugin's create, which fails and so calls FailHere from its code.
void DieInPlugin(EntryFunction entry) {
  const otc_plugin* plugin = entry(nullptr);
  otc_host host{};
  host.struct_size = sizeof(host);
  host.get_service = [](const otc_host*, otc_str) -> const void* { return nullptr; };
  otc_call call{};
  call.struct_size = sizeof(call);
  call.fail = FailHere;
  void* self = nullptr;
  // Without a log service its first line goes through a null pointer.
  plugin->create(&host, &call, {nullptr, 0}, &self);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  InstallCrashHandler();
  auto entry = OpenLibrary(UniqueFd(open(argv[1], O_RDONLY | O_CLOEXEC)));
  if (!entry.ok()) return 3;
  RecordPluginMapping(reinterpret_cast<const void*>(*entry), "scripted", "1.2.3");
  const std::string how = argv[2];
  if (how == "host") std::abort();
  auto thread = PluginThread::Start("dies", [&] {
    if (how == "overflow") std::exit(Overflow(0));
    DieInPlugin(*entry);
  });
  if (!thread.ok()) return 4;
  thread->Join();
  return 5;
}
