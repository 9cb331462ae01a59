// SteppingClock: a clock for tests of one thread, in which waiting takes no time:
// whoever waits moves it to his deadline.
#ifndef OTC_HOST_CLOUD_TESTING_STEPPING_CLOCK_H_
#define OTC_HOST_CLOUD_TESTING_STEPPING_CLOCK_H_

#include <mutex>

#include "host/base/clock.h"

namespace otc::host::cloud {

class SteppingClock final : public Clock {
 public:
  MonoTime Now() const override {
    std::lock_guard lock(mutex_);
    return now_;
  }
  WallTime Wall() const override {
    std::lock_guard lock(mutex_);
    return wall_;
  }
  bool WaitUntil(std::condition_variable&, std::unique_lock<std::mutex>&,
                 MonoTime deadline) override {
    std::lock_guard lock(mutex_);
    if (deadline > now_ && deadline != MonoTime::max()) {
      wall_ += deadline - now_;
      now_ = deadline;
    }
    return false;
  }
  int PollMillis(MonoTime) const override { return 0; }

  void Advance(Duration by) {
    std::lock_guard lock(mutex_);
    now_ += by;
    wall_ += by;
  }
  void SetWall(WallTime wall) {
    std::lock_guard lock(mutex_);
    wall_ = wall;
  }

 private:
  mutable std::mutex mutex_;
  MonoTime now_{std::chrono::hours(1)};
  WallTime wall_ = WallFromUnixMillis(1'767'225'600'000);  // 2026-01-01
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_TESTING_STEPPING_CLOCK_H_
