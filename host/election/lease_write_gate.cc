#include "host/election/lease_write_gate.h"

#include <utility>

namespace otc::host {

Result<MonoTime> LeaseWriteGate::Admit() {
  const MonoTime now = clock_.Now();
  std::lock_guard lock(mutex_);
  if (!closed_.empty()) {
    return Status(Code::kFailedPrecondition, "LeaseLost", "no write is sent: " + closed_);
  }
  if (valid_until_ == MonoTime::min()) {
    return Status(Code::kFailedPrecondition, "LeaseLost",
                  "no write is sent: this process does not hold the lease");
  }
  if (now > valid_until_ - margin_) {
    return Status(Code::kFailedPrecondition, "LeaseLost",
                  "no write is sent: too little of the lease is left");
  }
  return valid_until_;
}

void LeaseWriteGate::Extend(MonoTime valid_until) {
  std::lock_guard lock(mutex_);
  valid_until_ = std::max(valid_until_, valid_until);
}

void LeaseWriteGate::Close(std::string reason) {
  std::lock_guard lock(mutex_);
  if (closed_.empty()) closed_ = std::move(reason);
}

MonoTime LeaseWriteGate::ValidUntil() const {
  std::lock_guard lock(mutex_);
  return valid_until_;
}

}  // namespace otc::host
