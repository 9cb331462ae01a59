#include "host/cloud/http_date.h"

#include <algorithm>
#include <array>

#include "host/base/strings.h"

namespace otc::host::cloud {
namespace {

constexpr Duration kLongestPause = std::chrono::hours(1);

std::optional<unsigned> Digits(std::string_view text) {
  const auto number = ParseUint(text);
  if (!number || *number > 9999) return std::nullopt;
  return static_cast<unsigned>(*number);
}

std::optional<unsigned> MonthNumber(std::string_view name) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto found = std::find(kMonths.begin(), kMonths.end(), name);
  if (found == kMonths.end()) return std::nullopt;
  return static_cast<unsigned>(found - kMonths.begin()) + 1;
}

}  // namespace

std::optional<WallTime> ParseHttpDate(std::string_view text) {
  // "Mon, 30 Nov 2026 16:43:43 GMT": every part has its place.
  if (text.size() != 29 || text.substr(3, 2) != ", " || text[7] != ' ' || text[11] != ' ' ||
      text[16] != ' ' || text[19] != ':' || text[22] != ':' || text.substr(25) != " GMT") {
    return std::nullopt;
  }
  const auto day = Digits(text.substr(5, 2));
  const auto month = MonthNumber(text.substr(8, 3));
  const auto year = Digits(text.substr(12, 4));
  const auto hour = Digits(text.substr(17, 2));
  const auto minute = Digits(text.substr(20, 2));
  const auto second = Digits(text.substr(23, 2));
  if (!day || !month || !year || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day)};
  // Years that 64-bit nanoseconds can hold.
  if (!date.ok() || *year < 1970 || *year > 2200 || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) +
         std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

std::optional<Duration> ParseRetryAfter(std::string_view text, WallTime now) {
  text = TrimSpace(text);
  if (const auto seconds = ParseUint(text)) {
    const auto longest = std::chrono::duration_cast<std::chrono::seconds>(kLongestPause).count();
    return std::chrono::seconds(
        std::min<std::uint64_t>(*seconds, static_cast<std::uint64_t>(longest)));
  }
  const auto date = ParseHttpDate(text);
  if (!date) return std::nullopt;
  return std::clamp<Duration>(*date - now, Duration::zero(), kLongestPause);
}

}  // namespace otc::host::cloud
