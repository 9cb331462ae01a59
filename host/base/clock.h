// Clock: the only source of time in the host, so that tests can drive it.
//
// Monotonic time is CLOCK_BOOTTIME (it goes on while a virtual machine is
// suspended, which leader election depends on); it is carried in the type of
// std::chrono::steady_clock for its arithmetic only. Wall time is for stamps in
// API objects and signatures, never for measuring.
//
// Thread-safe. Owned by main (SystemClock) or a test (FakeClock); outlives
// everything that holds a reference.
#ifndef OTC_HOST_BASE_CLOCK_H_
#define OTC_HOST_BASE_CLOCK_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

namespace otc::host {

using Duration = std::chrono::nanoseconds;
using MonoTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

class Clock {
 public:
  virtual ~Clock() = default;

  virtual MonoTime Now() const = 0;
  virtual WallTime Wall() const = 0;

  // Waits on `cv` until it is notified or `deadline` has passed; false: passed.
  // May wake early without reason, as every condition variable.
  virtual bool WaitUntil(std::condition_variable& cv, std::unique_lock<std::mutex>& lock,
                         MonoTime deadline) = 0;

  // How long poll(2) may sleep at once before `deadline` is looked at again, in
  // milliseconds, at least 0. A fake clock answers short slices.
  virtual int PollMillis(MonoTime deadline) const = 0;
};

class SystemClock final : public Clock {
 public:
  MonoTime Now() const override;
  WallTime Wall() const override;
  bool WaitUntil(std::condition_variable& cv, std::unique_lock<std::mutex>& lock,
                 MonoTime deadline) override;
  int PollMillis(MonoTime deadline) const override;
};

std::int64_t UnixMillis(WallTime time);
WallTime WallFromUnixMillis(std::int64_t unix_ms);

// "2026-11-30T16:43:43Z" (metav1.Time) and with exactly six fractional digits
// (metav1.MicroTime; the API server refuses other widths).
std::string FormatRfc3339(WallTime time);
std::string FormatMicroTime(WallTime time);

}  // namespace otc::host

#endif  // OTC_HOST_BASE_CLOCK_H_
