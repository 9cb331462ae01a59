// RunChild: starts a program, collects what it says, and never waits longer than
// told. Used for the probe; children inherit nothing but the listed descriptors.
//
// posix_spawn, not fork: an empty signal mask (Poco blocks SIGPIPE in every
// thread) and default handlers, its own process group, standard input closed.
// It is waited for by pid, never by waitpid(-1). What the child leaves behind in
// its process group is killed before this returns. Blocks; any thread.
#ifndef OTC_HOST_PLUGIN_CHILD_PROCESS_H_
#define OTC_HOST_PLUGIN_CHILD_PROCESS_H_

#include <string>
#include <utility>
#include <vector>

#include "host/base/clock.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::plugin_host {

struct ChildSpec {
  std::vector<std::string> argv;         // argv[0] is the path
  std::vector<std::string> environment;  // "NAME=value", all of it
  // Our descriptor → its number in the child: 4 to 63, in ascending order (0 to 2
  // are taken, 3 is the channel).
  std::vector<std::pair<int, int>> descriptors;
  Duration timeout = std::chrono::seconds(10);
  std::size_t max_output = 4096;  // of each stream; more is read and dropped
};

inline constexpr int kChildChannel = 3;  // the child's end of `channel`

struct ChildResult {
  enum class End { kExited, kSignalled, kTimedOut };
  End end = End::kExited;
  int code = 0;         // exit code or signal
  std::string output;   // standard output and error, mixed
  std::string channel;  // what it wrote to descriptor kChildChannel
  bool truncated = false;
};

// UNAVAILABLE with reason "SpawnFailed" if the program can't be started.
Result<ChildResult> RunChild(const ChildSpec& spec, Clock& clock);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_CHILD_PROCESS_H_
