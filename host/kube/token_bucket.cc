#include "host/kube/token_bucket.h"

#include <algorithm>
#include <cmath>

namespace otc::host::kube {

TokenBucket::TokenBucket(Clock& clock, double per_second, int burst)
    : clock_(clock),
      per_second_(per_second),
      burst_(std::max(burst, 1)),
      tokens_(burst_),
      updated_(clock.Now()) {}

Duration TokenBucket::Reserve() {
  if (per_second_ <= 0) return Duration::zero();
  std::lock_guard lock(mutex_);
  RefillLocked();
  tokens_ -= 1.0;
  if (tokens_ >= 0) return Duration::zero();
  return Duration(static_cast<Duration::rep>(std::ceil(-tokens_ / per_second_ * 1e9)));
}

bool TokenBucket::TryTake() {
  if (per_second_ <= 0) return true;
  std::lock_guard lock(mutex_);
  RefillLocked();
  // Rounding may leave a token a hair short of whole at the very moment it is due.
  if (tokens_ < 1.0 - 1e-9) return false;
  tokens_ -= 1.0;
  return true;
}

void TokenBucket::RefillLocked() {
  const MonoTime now = clock_.Now();
  const double elapsed = std::chrono::duration<double>(now - updated_).count();
  if (elapsed <= 0) return;
  tokens_ = std::min(burst_, tokens_ + elapsed * per_second_);
  updated_ = now;
}

}  // namespace otc::host::kube
