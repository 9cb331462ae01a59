// TokenBucket: the rate limit of client-go's flow control, with reservations.
//
// Holds up to `burst` tokens, refilled at `per_second`. Reserve always takes one
// and says how long to wait for it; later callers queue behind. TryTake takes one
// only if it is there. Thread-safe.
#ifndef OTC_HOST_KUBE_TOKEN_BUCKET_H_
#define OTC_HOST_KUBE_TOKEN_BUCKET_H_

#include <mutex>

#include "host/base/clock.h"

namespace otc::host::kube {

class TokenBucket {
 public:
  // `per_second` <= 0: no limit at all.
  TokenBucket(Clock& clock, double per_second, int burst);

  Duration Reserve();
  bool TryTake();

 private:
  void RefillLocked();

  Clock& clock_;
  const double per_second_;
  const double burst_;
  std::mutex mutex_;
  double tokens_;  // negative: promised to waiters
  MonoTime updated_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_TOKEN_BUCKET_H_
