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

void DropLine(const otc_host*, const otc_call*, std::uint32_t, otc_str, const otc_kv*,
              std::uint64_t) {}
constexpr otc_host_log_1 kLog = {sizeof(otc_host_log_1), 0, nullptr, DropLine};

volatile int g_depth = 0;
int Overflow(int n) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(n);
  g_depth = n;
  return Overflow(n + 1) + frame[0];
}

// The word "crash" of a script calls abort from the plugin's code.
void DieInPlugin(EntryFunction entry) {
  const otc_plugin* plugin = entry(nullptr);
  otc_host host{};
  host.struct_size = sizeof(host);
  host.get_service = [](const otc_host*, otc_str) -> const void* { return &kLog; };
  otc_call call{};
  call.struct_size = sizeof(call);
  const std::string config = "{\"create\":\"crash\"}";
  void* self = nullptr;
  plugin->create(&host, &call,
                 {reinterpret_cast<const std::uint8_t*>(config.data()), config.size()}, &self);
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
