#include "host/base/clock.h"

#include <time.h>

#include <algorithm>
#include <cstdio>

namespace otc::host {

MonoTime SystemClock::Now() const {
  timespec ts{};
  clock_gettime(CLOCK_BOOTTIME, &ts);
  return MonoTime(std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec));
}

WallTime SystemClock::Wall() const { return std::chrono::system_clock::now(); }

bool SystemClock::WaitUntil(std::condition_variable& cv, std::unique_lock<std::mutex>& lock,
                            MonoTime deadline) {
  const Duration left = deadline - Now();
  if (left <= Duration::zero()) return false;
  // Long waits are cut: now + left must not overflow inside wait_for.
  cv.wait_for(lock, std::min<Duration>(left, std::chrono::hours(1)));
  return Now() < deadline;
}

int SystemClock::PollMillis(MonoTime deadline) const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

std::int64_t UnixMillis(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

WallTime WallFromUnixMillis(std::int64_t unix_ms) {
  return WallTime(std::chrono::milliseconds(unix_ms));
}

namespace {

std::string FormatSeconds(std::int64_t seconds) {
  const time_t value = seconds;
  tm parts{};
  gmtime_r(&value, &parts);
  char text[80];
  std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text;
}

}  // namespace

std::string FormatRfc3339(WallTime time) {
  return FormatSeconds(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count()) +
         "Z";
}

std::string FormatMicroTime(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time - seconds).count();
  char fraction[16];
  std::snprintf(fraction, sizeof(fraction), ".%06dZ", static_cast<int>(micros));
  return FormatSeconds(seconds.time_since_epoch().count()) + fraction;
}

}  // namespace otc::host
