// RFC 3339 as the API server's decoder takes it.
#ifndef OTC_TESTS_SIM_KUBE_TIMES_H_
#define OTC_TESTS_SIM_KUBE_TIMES_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace otc::kubesim {

struct TimeValue {
  std::int64_t seconds = 0;  // since 1970
  std::int32_t nanos = 0;
  int fraction_digits = 0;  // as written
};

// "2026-11-30T16:43:43Z", with an offset and up to nine fractional digits;
// nothing if it is not a valid time.
std::optional<TimeValue> ParseRfc3339(std::string_view text);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_TIMES_H_
