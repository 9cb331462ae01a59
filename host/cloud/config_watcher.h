// ConfigWatcher: notices that a file's content has changed and tells one listener.
//
// Polls, because a mounted Secret or ConfigMap is swapped behind a symbolic link,
// which no watch on the file survives. Compares the content's hash: files are
// small, and their time stamps do not tell everything. A content is reported once;
// only an answer of UNAVAILABLE or DEADLINE_EXCEEDED makes it come again, with
// growing pauses. A missing file changes nothing.
//
// Start makes one thread; the listener runs on it. Poll is for those that have a
// loop of their own, and for tests.
#ifndef OTC_HOST_CLOUD_CONFIG_WATCHER_H_
#define OTC_HOST_CLOUD_CONFIG_WATCHER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "host/base/cancellation.h"
#include "host/base/log.h"

namespace otc::host::cloud {

class ConfigWatcher {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(4);

  // Gets the new content; what it says decides whether the content comes again.
  using OnChange = std::function<Status(const std::string& content, const CallContext& context)>;

  // `in_force`: the content that is already in use.
  ConfigWatcher(Clock& clock, Log& log, std::string path, const std::string& in_force,
                OnChange on_change);
  ~ConfigWatcher();  // Stop
  ConfigWatcher(const ConfigWatcher&) = delete;
  ConfigWatcher& operator=(const ConfigWatcher&) = delete;

  void Start();
  // Cancels a running listener and waits for it.
  void Stop();

  // Looks once; true if the listener was called.
  bool Poll();

 private:
  Clock& clock_;
  Log& log_;
  const std::string path_;
  const OnChange on_change_;
  const std::shared_ptr<Cancellation> stop_;
  std::thread thread_;
  // Used by whoever polls.
  std::string reported_hash_;
  bool unreadable_ = false;
  bool again_ = false;  // reported_hash_ is to be reported once more, at again_at_
  MonoTime again_at_{};
  Duration pause_{};
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_CONFIG_WATCHER_H_
