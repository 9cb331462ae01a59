// CloudCheck: tells early and clearly whether the cloud accepts this process.
//
// Tries key and project against IAM once at start, so that a wrong secret is one
// log line and a false /readyz instead of the first failed node. What may pass by
// itself (unreachable, throttled) is tried again with growing pauses; what needs
// a person (wrong key, wrong project) only after the configuration changed, since
// every try with a wrong key brings its lock nearer. Liveness is not touched.
//
// One thread of its own, from Start to Stop. Owned by main.
#ifndef OTC_HOST_CLI_CLOUD_CHECK_H_
#define OTC_HOST_CLI_CLOUD_CHECK_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "host/base/cancellation.h"
#include "host/base/log.h"

namespace otc::host::cli {

class CloudCheck {
 public:
  using Probe = std::function<Status(const CallContext&)>;

  CloudCheck(Probe probe, Clock& clock, Log& log);
  ~CloudCheck();
  CloudCheck(const CloudCheck&) = delete;
  CloudCheck& operator=(const CloudCheck&) = delete;

  void Start();
  void Stop();
  // The configuration changed: try again now.
  void Again();

  // OK once a probe succeeded; else what the last one said, or UNAVAILABLE
  // "CloudNotChecked". For /readyz.
  Status Ready() const;

 private:
  void Run();

  const Probe probe_;
  Clock& clock_;
  Log& log_;
  const std::shared_ptr<Cancellation> stop_ = Cancellation::Create();
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  bool stopping_ = false;
  bool due_ = true;
  Status last_;
  std::thread thread_;
};

}  // namespace otc::host::cli

#endif  // OTC_HOST_CLI_CLOUD_CHECK_H_
