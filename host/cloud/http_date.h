// The dates of HTTP headers ("Mon, 30 Nov 2026 16:43:43 GMT") and Retry-After.
#ifndef OTC_HOST_CLOUD_HTTP_DATE_H_
#define OTC_HOST_CLOUD_HTTP_DATE_H_

#include <optional>
#include <string_view>

#include "host/base/clock.h"

namespace otc::host::cloud {

// The preferred form of RFC 9110 §5.6.7 only; nothing for everything else.
std::optional<WallTime> ParseHttpDate(std::string_view text);

// How long Retry-After asks to wait: seconds, or a date seen from `now`. Nothing
// if absent or malformed; at most one hour, never negative.
std::optional<Duration> ParseRetryAfter(std::string_view text, WallTime now);

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_HTTP_DATE_H_
