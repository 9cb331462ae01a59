#include "tests/sim/kube/times.h"

#include <chrono>
#include <cstddef>

namespace otc::kubesim {
namespace {

// Reads exactly `count` digits at `at` and moves on; nothing if there are fewer.
std::optional<int> Digits(std::string_view text, std::size_t& at, std::size_t count) {
  if (at + count > text.size()) {
    return std::nullopt;
  }
  int value = 0;
  for (std::size_t end = at + count; at < end; ++at) {
    if (text[at] < '0' || text[at] > '9') {
      return std::nullopt;
    }
    value = value * 10 + (text[at] - '0');
  }
  return value;
}

bool Literal(std::string_view text, std::size_t& at, char expected) {
  if (at >= text.size() || text[at] != expected) {
    return false;
  }
  ++at;
  return true;
}

// Seconds east of UTC of "Z", "+01:00", "-07:30"; must end the text.
std::optional<int> Offset(std::string_view text, std::size_t at) {
  if (text.substr(at) == "Z") {
    return 0;
  }
  if (at >= text.size() || (text[at] != '+' && text[at] != '-')) {
    return std::nullopt;
  }
  const int sign = text[at++] == '-' ? -1 : 1;
  const auto hours = Digits(text, at, 2);
  if (!hours || !Literal(text, at, ':')) {
    return std::nullopt;
  }
  const auto minutes = Digits(text, at, 2);
  if (!minutes || at != text.size() || *hours > 23 || *minutes > 59) {
    return std::nullopt;
  }
  return sign * (*hours * 3600 + *minutes * 60);
}

}  // namespace

std::optional<TimeValue> ParseRfc3339(std::string_view text) {
  std::size_t at = 0;
  const auto year = Digits(text, at, 4);
  if (!year || !Literal(text, at, '-')) return std::nullopt;
  const auto month = Digits(text, at, 2);
  if (!month || !Literal(text, at, '-')) return std::nullopt;
  const auto day = Digits(text, at, 2);
  if (!day || !Literal(text, at, 'T')) return std::nullopt;
  const auto hour = Digits(text, at, 2);
  if (!hour || !Literal(text, at, ':')) return std::nullopt;
  const auto minute = Digits(text, at, 2);
  if (!minute || !Literal(text, at, ':')) return std::nullopt;
  const auto second = Digits(text, at, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;

  TimeValue value;
  if (Literal(text, at, '.')) {
    std::int32_t scale = 100'000'000;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      value.nanos += (text[at++] - '0') * scale;
      scale /= 10;
      ++value.fraction_digits;
    }
    if (value.fraction_digits == 0 || value.fraction_digits > 9) return std::nullopt;
  }
  const auto offset = Offset(text, at);
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(*month),
                                         std::chrono::day(*day)};
  if (!offset || !date.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  value.seconds =
      static_cast<std::int64_t>(days) * 86400 + *hour * 3600 + *minute * 60 + *second - *offset;
  return value;
}

}  // namespace otc::kubesim
