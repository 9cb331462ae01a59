// CallMeter: how many calls went to the cloud within the last hour, and whether
// that is more than the operator expects.
//
// Counts whole minutes. Thread-safe, never blocks, fails never.
#ifndef OTC_HOST_CLOUD_CALL_METER_H_
#define OTC_HOST_CLOUD_CALL_METER_H_

#include <array>
#include <cstdint>
#include <mutex>

#include "host/base/clock.h"

namespace otc::host::cloud {

class CallMeter {
 public:
  explicit CallMeter(Clock& clock) : clock_(clock) {}

  // Counts one call. True if the last hour now holds more than `limit` calls
  // (0: no limit) and did not when last asked.
  bool Count(std::uint64_t limit);
  std::uint64_t LastHour();

 private:
  void TurnLocked();

  Clock& clock_;
  std::mutex mutex_;
  std::array<std::uint64_t, 60> minutes_{};
  std::int64_t minute_ = 0;  // since the clock's zero
  std::uint64_t total_ = 0;
  bool over_ = false;
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_CALL_METER_H_
