// LeaseWriteGate: writes are allowed while enough of the lease is left.
//
// Counted on the boot-time clock from the moment at which the last successful
// renewal was *sent*: whoever waits for the lease to run out saw that renewal
// later, so nobody else can lead before ValidUntil(). Closed until the first
// renewal and for ever after Close().
//
// Owned by the LeaderElector, which alone opens, extends and closes it; workers
// ask it from any thread, without waiting.
#ifndef OTC_HOST_ELECTION_LEASE_WRITE_GATE_H_
#define OTC_HOST_ELECTION_LEASE_WRITE_GATE_H_

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>

#include "host/base/clock.h"
#include "host/base/write_gate.h"

namespace otc::host {

class LeaseWriteGate final : public WriteGate {
 public:
  // A write is admitted only while at least this much of the lease is left.
  static constexpr Duration kMargin = std::chrono::seconds(5);

  // Leases shorter than three margins (tests, demos) keep a third of themselves.
  LeaseWriteGate(Clock& clock, Duration lease_duration)
      : clock_(clock), margin_(std::min<Duration>(kMargin, lease_duration / 3)) {}

  Result<MonoTime> Admit() override;

  // The lease is ours until `valid_until`; never moves backwards.
  void Extend(MonoTime valid_until);
  // Final: nothing is admitted any more. `reason` goes into the refusal.
  void Close(std::string reason);
  MonoTime ValidUntil() const;

 private:
  Clock& clock_;
  const Duration margin_;
  mutable std::mutex mutex_;
  MonoTime valid_until_ = MonoTime::min();
  std::string closed_;  // empty: open
};

}  // namespace otc::host

#endif  // OTC_HOST_ELECTION_LEASE_WRITE_GATE_H_
