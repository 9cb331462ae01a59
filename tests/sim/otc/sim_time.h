// SimTime: the simulated cloud's clock. It follows the injected clock; tests may
// set it wrong (skew, seen in `Date` and the signature window only) or move it
// forward (tokens expire, jobs end). Thread-safe.
#ifndef OTC_TESTS_SIM_OTC_SIM_TIME_H_
#define OTC_TESTS_SIM_OTC_SIM_TIME_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "host/base/clock.h"

namespace otc::sim {

class SimTime {
 public:
  explicit SimTime(const host::Clock* clock) : clock_(clock) {}

  host::WallTime Wall() const {
    return clock_->Wall() + std::chrono::milliseconds(skew_ms_ + advanced_ms_);
  }
  host::MonoTime Mono() const {
    return clock_->Now() + std::chrono::milliseconds(advanced_ms_.load());
  }

  void SetSkew(std::int64_t ms) { skew_ms_ = ms; }
  void Advance(std::int64_t ms) { advanced_ms_ += ms; }
  std::int64_t skew_ms() const { return skew_ms_; }
  std::int64_t advanced_ms() const { return advanced_ms_; }

 private:
  const host::Clock* clock_;
  std::atomic<std::int64_t> skew_ms_{0};
  std::atomic<std::int64_t> advanced_ms_{0};
};

// "2026-11-30T16:43:43Z"; without the Z; with six digits and a Z.
inline std::string TimeZ(host::WallTime time) { return host::FormatRfc3339(time); }
inline std::string TimeNoZ(host::WallTime time) {
  std::string text = host::FormatRfc3339(time);
  text.pop_back();
  return text;
}
inline std::string TimeFraction(host::WallTime time) { return host::FormatMicroTime(time); }
// "2026-11-30 16:43:43", as VPC v1 writes it.
inline std::string TimeBlank(host::WallTime time) {
  std::string text = TimeNoZ(time);
  text[10] = ' ';
  return text;
}

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_SIM_TIME_H_
