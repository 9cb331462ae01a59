#include "host/plugin/health_window.h"

namespace otc::host::plugin_host {

void HealthWindow::Add(MonoTime now, bool bug) {
  const std::int64_t number = Number(now);
  Bucket& bucket = buckets_[static_cast<std::size_t>(number) % kBuckets];
  if (bucket.number != number) bucket = Bucket{number, 0, 0};
  ++bucket.calls;
  if (bug) ++bucket.bugs;
}

bool HealthWindow::Unhealthy(MonoTime now) const {
  std::uint32_t calls = 0, bugs = 0;
  for (const Bucket& bucket : buckets_) {
    if (!InWindow(bucket, now)) continue;
    calls += bucket.calls;
    bugs += bucket.bugs;
  }
  return calls >= kMinCalls && bugs * 2 > calls;
}

}  // namespace otc::host::plugin_host
