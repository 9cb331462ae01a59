// Crash handler: says in which plugin a crash happened, then lets the process
// die of the same signal. A backtrace alone would show /proc/self/fd/N.
//
// The table is filled after each load and only ever grows; the handler compares
// addresses and calls write(2), nothing else: no lock, no allocation, no dynamic
// linker. It is a property of the process, as signal handlers are.
#ifndef OTC_HOST_PLUGIN_CRASH_HANDLER_H_
#define OTC_HOST_PLUGIN_CRASH_HANDLER_H_

#include <cstdint>
#include <string>

namespace otc::host::plugin_host {

// Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and SIGTRAP. Call once at
// the start of main, from the main thread; it gets an alternate stack too.
void InstallCrashHandler();

// An alternate signal stack for the calling thread, so that a stack overflow in
// a plugin is still reported. Kept until Reset or the end of the object, which
// must be on the same thread.
class AlternateStack {
 public:
  AlternateStack();
  ~AlternateStack();
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  void* memory_ = nullptr;
};

// Records the mapping that `address` lies in as "id version". False if the table
// (64 entries) is full or no object is mapped there. Thread-safe.
bool RecordPluginMapping(const void* address, const std::string& id, const std::string& version);

// The text that the handler would print for an address: "id version build-id
// +0xoffset"; empty if it belongs to no plugin. For tests and logs.
std::string DescribePluginAddress(const void* address);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_CRASH_HANDLER_H_
