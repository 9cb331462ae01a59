// CallWait: lets a wait on a condition variable end when the call is cancelled.
//
//   CallWait wait(mutex_, changed_, context);   // before the lock, ends after it
//   std::unique_lock lock(mutex_);
//   const Status status = wait.Until(lock, [&] { return ready_; });
//
// Lives on the waiting thread's stack; mutex and condition variable must outlive
// it. It must not be destroyed with the mutex held.
#ifndef OTC_HOST_CLOUD_CALL_WAIT_H_
#define OTC_HOST_CLOUD_CALL_WAIT_H_

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "host/base/cancellation.h"

namespace otc::host::cloud {

class CallWait {
 public:
  CallWait(std::mutex& mutex, std::condition_variable& changed, const CallContext& context)
      : changed_(changed), context_(context) {
    if (!context_.cancellation) return;
    registration_ = context_.cancellation->OnCancel([&mutex, &changed] {
      std::lock_guard lock(mutex);
      changed.notify_all();
    });
  }
  ~CallWait() {
    if (context_.cancellation) context_.cancellation->Remove(registration_);
  }
  CallWait(const CallWait&) = delete;
  CallWait& operator=(const CallWait&) = delete;

  // Waits for `ready` (asked under the lock); the call's status if it ended first.
  template <typename Ready>
  Status Until(std::unique_lock<std::mutex>& lock, Ready ready) {
    while (!ready()) {
      if (Status status = context_.Check(); !status.ok()) return status;
      WaitOnce(lock, MonoTime::max());
    }
    return Status::Ok();
  }

  // One wait until notified, `until`, or the call's end.
  void WaitOnce(std::unique_lock<std::mutex>& lock, MonoTime until) {
    context_.clock->WaitUntil(changed_, lock, std::min(until, context_.deadline));
  }

 private:
  std::condition_variable& changed_;
  const CallContext& context_;
  std::uint64_t registration_ = 0;
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_CALL_WAIT_H_
