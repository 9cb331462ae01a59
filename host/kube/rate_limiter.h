// RateLimiter: how long a key of a work queue waits after a failure.
//
// Implementations are thread-safe. A key is remembered from its first When until
// Forget, which a controller calls after success and for deleted objects.
#ifndef OTC_HOST_KUBE_RATE_LIMITER_H_
#define OTC_HOST_KUBE_RATE_LIMITER_H_

#include <memory>
#include <string>
#include <vector>

#include "host/base/clock.h"

namespace otc::host::kube {

class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  // The delay before the next attempt; counts one failure.
  virtual Duration When(const std::string& key) = 0;
  virtual void Forget(const std::string& key) = 0;
  // Failures counted since the last Forget.
  virtual int Retries(const std::string& key) const = 0;
};

// base, 2·base, 4·base … at most `max`, for each key.
std::unique_ptr<RateLimiter> MakeExponentialLimiter(Duration base, Duration max);
// One token bucket for all keys together.
std::unique_ptr<RateLimiter> MakeBucketLimiter(Clock& clock, double per_second, int burst);
// The longest delay that any of them asks for.
std::unique_ptr<RateLimiter> MakeMaxLimiter(std::vector<std::unique_ptr<RateLimiter>> limiters);
// What controllers use by default: 5 ms doubling up to 1000 s for each key, and
// 10 a second with a burst of 100 over all keys.
std::unique_ptr<RateLimiter> MakeDefaultLimiter(Clock& clock);

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_RATE_LIMITER_H_
