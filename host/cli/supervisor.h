// Supervisor: what the main thread waits for: signals and messages of other
// threads, one at a time.
//
// Construct it first thing in main: it blocks SIGTERM, SIGINT and SIGHUP for the
// thread and all threads started later, and reads them from a descriptor. Post
// is thread-safe; Wait is the main thread's.
#ifndef OTC_HOST_CLI_SUPERVISOR_H_
#define OTC_HOST_CLI_SUPERVISOR_H_

#include <deque>
#include <mutex>
#include <optional>

#include "host/base/clock.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::cli {

struct Notice {
  enum class Kind {
    kTerminate,  // SIGTERM or SIGINT
    kReload,     // SIGHUP
    kLeading,    // this process became the leader
    kFatal,      // a part cannot go on: `status` says why
  };
  Kind kind = Kind::kTerminate;
  Status status;
  int exit_code = 1;  // of kFatal
};

class Supervisor {
 public:
  Supervisor();
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  void Post(Notice notice);
  // The next notice, or nothing when `timeout` has passed. Real time.
  std::optional<Notice> Wait(std::chrono::milliseconds timeout);

 private:
  std::optional<Notice> Pop();
  std::optional<Notice> ReadSignal();

  int signal_fd_ = -1;
  int event_fd_ = -1;
  std::mutex mutex_;
  std::deque<Notice> notices_;
};

// Writes why the process ends to `path` (the pod's termination message, shown by
// `kubectl describe pod`), at most 4 KiB; does nothing for an empty path or a
// file that cannot be written: the log has the text too.
void WriteTerminationMessage(const std::string& path, const std::string& message);

}  // namespace otc::host::cli

#endif  // OTC_HOST_CLI_SUPERVISOR_H_
