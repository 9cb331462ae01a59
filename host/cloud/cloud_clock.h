// CloudClock: the time that signatures carry. The machine's clock plus what the
// cloud's own clock was once seen to differ by.
//
// Thread-safe.
#ifndef OTC_HOST_CLOUD_CLOUD_CLOCK_H_
#define OTC_HOST_CLOUD_CLOUD_CLOCK_H_

#include <atomic>

#include "host/base/clock.h"

namespace otc::host::cloud {

class CloudClock {
 public:
  // A difference below this is network delay, not a wrong clock.
  static constexpr Duration kTolerance = std::chrono::minutes(1);

  explicit CloudClock(Clock& clock) : clock_(clock) {}

  WallTime Now() const { return clock_.Wall() + Offset(); }
  Duration Offset() const { return Duration(offset_ns_.load(std::memory_order_relaxed)); }
  // The cloud says that it is `cloud_now`.
  void Correct(WallTime cloud_now) {
    offset_ns_.store((cloud_now - clock_.Wall()).count(), std::memory_order_relaxed);
  }

 private:
  Clock& clock_;
  std::atomic<std::int64_t> offset_ns_{0};
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_CLOUD_CLOCK_H_
