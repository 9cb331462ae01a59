// Small text helpers that the standard library of gcc 12 lacks.
#ifndef OTC_HOST_BASE_STRINGS_H_
#define OTC_HOST_BASE_STRINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace otc::host {

std::string_view TrimSpace(std::string_view text);
std::string ToLower(std::string_view text);  // ASCII only
bool EqualsIgnoreCase(std::string_view a, std::string_view b);
std::vector<std::string> Split(std::string_view text, char separator);  // keeps empty parts
std::string Join(const std::vector<std::string>& parts, std::string_view separator);

// Decimal digits only, no sign, no blanks; nothing on overflow.
std::optional<std::uint64_t> ParseUint(std::string_view text);
// "90s", "5m", "1h30m", "100ms" as Go's durations; nothing if malformed.
std::optional<std::int64_t> ParseDurationMillis(std::string_view text);

// A JSON string literal, quotes included. Bytes that are not valid UTF-8 become
// U+FFFD.
std::string JsonQuote(std::string_view text);
bool IsValidUtf8(std::string_view text);
std::string ReplaceInvalidUtf8(std::string_view text);

std::string HexEncode(std::string_view bytes);  // lower case

// The candidate nearest to `word` by edit distance, if near enough (at most a
// third of its length) to be a likely typing mistake.
std::optional<std::string> Nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

// A random UUID (version 4), from getrandom(2).
std::string RandomUuid();

}  // namespace otc::host

#endif  // OTC_HOST_BASE_STRINGS_H_
