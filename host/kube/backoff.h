// Backoff: growing waits between attempts, forgotten after a time of calm. For
// one thread.
#ifndef OTC_HOST_KUBE_BACKOFF_H_
#define OTC_HOST_KUBE_BACKOFF_H_

#include <algorithm>

#include "host/base/clock.h"
#include "host/base/random.h"

namespace otc::host::kube {

class Backoff {
 public:
  // client-go's reflector: 0.8 s doubling up to 30 s, each with up to 100 % more by
  // chance; from the start again after 2 minutes without a failure.
  Backoff(Clock& clock, Random& random) : clock_(clock), random_(random) {}

  // The wait before the next attempt.
  Duration Next() {
    const MonoTime now = clock_.Now();
    if (now - last_ > kReset) next_ = kFirst;
    last_ = now;
    const Duration base = next_;
    next_ = std::min(next_ * 2, kMost);
    return base + std::chrono::duration_cast<Duration>(base * random_.Uniform());
  }

 private:
  static constexpr Duration kFirst = std::chrono::milliseconds(800);
  static constexpr Duration kMost = std::chrono::seconds(30);
  static constexpr Duration kReset = std::chrono::minutes(2);

  Clock& clock_;
  Random& random_;
  Duration next_ = kFirst;
  MonoTime last_{};
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_BACKOFF_H_
