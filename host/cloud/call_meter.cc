#include "host/cloud/call_meter.h"

namespace otc::host::cloud {

bool CallMeter::Count(std::uint64_t limit) {
  std::lock_guard lock(mutex_);
  TurnLocked();
  ++minutes_[static_cast<std::size_t>(minute_ % 60)];
  ++total_;
  const bool was_over = over_;
  over_ = limit != 0 && total_ > limit;
  return over_ && !was_over;
}

std::uint64_t CallMeter::LastHour() {
  std::lock_guard lock(mutex_);
  TurnLocked();
  return total_;
}

void CallMeter::TurnLocked() {
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::minutes>(clock_.Now().time_since_epoch()).count();
  // After an hour or more everything is stale; one turn of the ring clears it.
  if (now - minute_ > 60) minute_ = now - 60;
  while (minute_ < now) {
    ++minute_;
    std::uint64_t& slot = minutes_[static_cast<std::size_t>(minute_ % 60)];
    total_ -= slot;
    slot = 0;
  }
}

}  // namespace otc::host::cloud
