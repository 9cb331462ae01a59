#include "host/base/fake_clock.h"

#include <algorithm>
#include <set>

namespace otc::host {

MonoTime FakeClock::Now() const {
  std::lock_guard lock(mutex_);
  return now_;
}

WallTime FakeClock::Wall() const {
  std::lock_guard lock(mutex_);
  return wall_;
}

bool FakeClock::WaitUntil(std::condition_variable& cv, std::unique_lock<std::mutex>& lock,
                          MonoTime deadline) {
  std::multimap<MonoTime, std::condition_variable*>::iterator self;
  {
    std::lock_guard guard(mutex_);
    if (deadline <= now_) return false;
    self = waiters_.emplace(deadline, &cv);
    waiters_changed_.notify_all();
  }
  // A short real wait closes the gap in which Advance could miss this waiter;
  // callers loop on their condition anyway.
  cv.wait_for(lock, std::chrono::milliseconds(50));
  std::lock_guard guard(mutex_);
  waiters_.erase(self);
  return now_ < deadline;
}

int FakeClock::PollMillis(MonoTime deadline) const {
  std::lock_guard lock(mutex_);
  return deadline <= now_ ? 0 : 5;
}

void FakeClock::Advance(Duration by) {
  std::set<std::condition_variable*> wake;
  std::lock_guard lock(mutex_);
  now_ += by;
  wall_ += by;
  for (const auto& [deadline, cv] : waiters_) wake.insert(cv);
  for (auto* cv : wake) cv->notify_all();
}

void FakeClock::StepWall(Duration by) {
  std::lock_guard lock(mutex_);
  wall_ += by;
}

int FakeClock::Waiters() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(waiters_.size());
}

MonoTime FakeClock::EarliestDeadline() const {
  std::lock_guard lock(mutex_);
  return waiters_.empty() ? MonoTime::max() : waiters_.begin()->first;
}

bool FakeClock::AwaitWaiters(int count) const {
  std::unique_lock lock(mutex_);
  return waiters_changed_.wait_for(lock, std::chrono::seconds(10),
                                   [&] { return static_cast<int>(waiters_.size()) >= count; });
}

}  // namespace otc::host
