#include "host/kube/watchdog.h"

#include <utility>

namespace otc::host::kube {

Watchdog::Watchdog(Clock& clock, Duration patience, std::function<void()> bark)
    : clock_(clock),
      patience_(patience),
      bark_(std::move(bark)),
      fed_(clock.Now()),
      thread_([this] { Run(); }) {}

Watchdog::~Watchdog() {
  Disarm();
  thread_.join();
}

void Watchdog::Feed() {
  std::lock_guard lock(mutex_);
  fed_ = clock_.Now();
}

void Watchdog::Disarm() {
  std::lock_guard lock(mutex_);
  disarmed_ = true;
  changed_.notify_all();
}

bool Watchdog::barked() const {
  std::lock_guard lock(mutex_);
  return barked_;
}

void Watchdog::Run() {
  std::unique_lock lock(mutex_);
  while (!disarmed_ && clock_.Now() < fed_ + patience_) {
    clock_.WaitUntil(changed_, lock, fed_ + patience_);
  }
  if (disarmed_) return;
  barked_ = true;
  lock.unlock();
  bark_();
}

}  // namespace otc::host::kube
