#include "sdk/check/child.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "sdk/check/drive.h"
#include "sdk/check/process_state.h"
#include "sdk/check/wire.h"
#include "sdk/harness/fake_host.h"
#include "sdk/harness/harness.h"
#include "sdk/inspect/descriptor.h"
#include "sdk/inspect/file.h"

namespace otc::check {
namespace {

using inspect::Violation;

// Sends standard output and error into memory for the life of the process.
class CaughtOutput {
 public:
  CaughtOutput() : fd_(memfd_create("output", MFD_CLOEXEC)) {
    dup2(fd_, STDOUT_FILENO);
    dup2(fd_, STDERR_FILENO);
  }
  // What was written so far, at most its first 200 bytes.
  std::string Text() const {
    char buffer[200];
    const ssize_t size = pread(fd_, buffer, sizeof(buffer), 0);
    return size <= 0 ? "" : std::string(buffer, static_cast<std::size_t>(size));
  }

 private:
  int fd_;
};

void TellEffects(const Wire& wire, const std::string& when, const ProcessState& before,
                 const std::string& output) {
  for (const std::string& change : ProcessState::Now().ChangesSince(before)) {
    wire.Violation(
        {"ABI-R06", when + ": " + change, "no effect at all", "move this to create or start"});
  }
  if (!output.empty()) {
    wire.Violation({"ABI-R06", when + ": wrote \"" + output + "\"", "no output",
                    "log through otc.host.log/1, after create"});
  }
}

inspect::Manifest ReadManifest(const std::string& path) {
  inspect::Manifest manifest;
  const auto bytes = inspect::ReadPluginFile(path);
  if (bytes.ok()) inspect::CheckPluginFile(*bytes, {}, nullptr, &manifest);
  return manifest;
}

void RunLoad(const ChildOptions& options, const Wire& wire, const CaughtOutput& output) {
  const inspect::Manifest manifest = ReadManifest(options.path);
  harness::FakeHost host;
  const harness::HostFace face(host, manifest, "controllers");
  const ProcessState before = ProcessState::Now();

  wire.Stage("loading (constructors)");
  void* const handle = dlopen(options.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = dlerror();
    return wire.Violation({"LOAD-8", error == nullptr ? "dlopen failed" : error,
                           "a file that dlopen takes with RTLD_NOW",
                           "link with -z defs to see missing symbols when building"});
  }
  TellEffects(wire, "while loading", before, output.Text());
  void* const symbol = dlsym(handle, "otc_plugin_entry_v1");
  if (symbol == nullptr) {
    return wire.Violation({"LOAD-10", "no symbol otc_plugin_entry_v1", "the entry of ABI major 1",
                           "define and export otc_plugin_entry_v1"});
  }
  decltype(&otc_plugin_entry_v1) entry;
  std::memcpy(&entry, &symbol, sizeof(entry));

  wire.Stage("calling otc_plugin_entry_v1");
  const ProcessState loaded = ProcessState::Now();
  const bool printed = !output.Text().empty();
  const otc_plugin* const plugin = entry(face.raw());
  const bool same = entry(face.raw()) == plugin && entry(face.raw()) == plugin;
  TellEffects(wire, "in the entry", loaded, printed ? "" : output.Text());
  if (!same) {
    wire.Violation({"ABI-R06", "the entry gave different pointers",
                    "the same static descriptor each time", "return the address of static data"});
  }
  wire.Judged("ABI-R06");
  wire.Judged("LOAD-8");
  if (plugin == nullptr) {
    return wire.Violation({"LOAD-8", "the entry returned NULL (refuses this host)",
                           "a descriptor for this host's ABI",
                           "refuse with a reason in create instead"});
  }
  wire.Stage("reading the descriptor");
  for (const Violation& violation : inspect::CheckDescriptor(*plugin, manifest)) {
    wire.Violation(violation);
  }
  for (const char* rule : {"LOAD-10", "ABI-R05", "ABI-R38"}) wire.Judged(rule);
}

void RunDriven(const ChildOptions& options, const Wire& wire) {
  wire.Stage("loading");
  auto library = harness::PluginLibrary::Load(options.path);
  if (!library.ok()) {
    return wire.NotJudged("ABI-R10", "not loaded: " + library.status().message());
  }
  Driver driver(*library, options.role, options.config, wire);
  if (options.group == Group::kLife) driver.Life();
  if (options.group == Group::kConfig) driver.Configurations();
  if (options.group == Group::kInput) driver.Inputs();
}

}  // namespace

const char* GroupName(Group group) {
  switch (group) {
    case Group::kLoad:
      return "load";
    case Group::kLife:
      return "life";
    case Group::kConfig:
      return "config";
    case Group::kInput:
      return "input";
  }
  return "?";
}

bool ParseGroup(const std::string& name, Group* out) {
  for (const Group group : kGroups) {
    if (name != GroupName(group)) continue;
    *out = group;
    return true;
  }
  return false;
}

int RunChild(const ChildOptions& options) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const Wire wire(options.wire_fd);
  const CaughtOutput output;
  if (options.group == Group::kLoad) {
    RunLoad(options, wire, output);
  } else {
    RunDriven(options, wire);
    if (!output.Text().empty()) {
      wire.Violation({"ABI-R22", "wrote \"" + output.Text() + "\" to standard output or error",
                      "no output", "log through otc.host.log/1"});
    }
    wire.Judged("ABI-R22");
  }
  wire.Done();
  _exit(0);  // no destructor of the plugin may spoil a finished verdict
}

}  // namespace otc::check
