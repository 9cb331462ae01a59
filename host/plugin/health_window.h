// HealthWindow: how many of a plugin's calls in the last five minutes ended as a
// bug of the plugin. Fixed size: thirty buckets of ten seconds. Not thread-safe.
#ifndef OTC_HOST_PLUGIN_HEALTH_WINDOW_H_
#define OTC_HOST_PLUGIN_HEALTH_WINDOW_H_

#include <array>
#include <cstdint>

#include "host/base/clock.h"

namespace otc::host::plugin_host {

class HealthWindow {
 public:
  static constexpr std::chrono::seconds kBucket{10};
  static constexpr std::chrono::minutes kWindow{5};
  static constexpr std::uint32_t kMinCalls = 10;

  void Add(MonoTime now, bool bug);
  // At least ten calls, and more than half of them bugs.
  bool Unhealthy(MonoTime now) const;

 private:
  static constexpr std::size_t kBuckets = kWindow / kBucket;
  struct Bucket {
    std::int64_t number = -1;  // which ten seconds since the clock's start
    std::uint32_t calls = 0;
    std::uint32_t bugs = 0;
  };
  static std::int64_t Number(MonoTime now) { return now.time_since_epoch() / kBucket; }
  bool InWindow(const Bucket& bucket, MonoTime now) const {
    return bucket.number >= 0 && Number(now) - bucket.number < static_cast<std::int64_t>(kBuckets);
  }

  std::array<Bucket, kBuckets> buckets_{};
};

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_HEALTH_WINDOW_H_
