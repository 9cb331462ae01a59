// FakeClock: time that moves only when a test says so. Waiters registered by
// WaitUntil are woken by Advance once their deadline has passed.
#ifndef OTC_HOST_BASE_FAKE_CLOCK_H_
#define OTC_HOST_BASE_FAKE_CLOCK_H_

#include <map>

#include "host/base/clock.h"

namespace otc::host {

class FakeClock final : public Clock {
 public:
  explicit FakeClock(WallTime wall = WallFromUnixMillis(1'767'225'600'000))  // 2026-01-01
      : wall_(wall) {}

  MonoTime Now() const override;
  WallTime Wall() const override;
  bool WaitUntil(std::condition_variable& cv, std::unique_lock<std::mutex>& lock,
                 MonoTime deadline) override;
  int PollMillis(MonoTime deadline) const override;

  // Moves both clocks and wakes every waiter, whether due or not.
  void Advance(Duration by);
  // Moves the wall clock alone, as an operator or NTP would.
  void StepWall(Duration by);
  // How many threads wait at this moment, and the earliest deadline among them.
  int Waiters() const;
  MonoTime EarliestDeadline() const;
  // Blocks (real time, at most 10 s) until at least `count` threads wait;
  // false: they did not come.
  bool AwaitWaiters(int count) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable waiters_changed_;
  MonoTime now_{std::chrono::hours(1)};
  WallTime wall_;
  std::multimap<MonoTime, std::condition_variable*> waiters_;
};

}  // namespace otc::host

#endif  // OTC_HOST_BASE_FAKE_CLOCK_H_
