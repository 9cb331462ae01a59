// Answers of the cloud: error bodies in any shape, dates and pauses of headers.
// FUZZ_DEPS: otc_cloud
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "host/base/strings.h"
#include "host/cloud/errors.h"
#include "host/cloud/http_date.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace otc::host::cloud;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const CloudError error = ParseErrorBody(text);
  if (error.message.size() > 1024 || !otc::host::IsValidUtf8(error.message) ||
      !otc::host::IsValidUtf8(error.service_code) || !otc::host::IsValidUtf8(error.request_id)) {
    std::abort();
  }
  for (const int status : {200, 202, 400, 401, 403, 404, 409, 429, 500, 501, 503, 504}) {
    const Verdict verdict = Judge(status, error);
    if (verdict.proves_absence && (status != 404 || IsGatewayCode(error.service_code))) {
      std::abort();
    }
    if ((verdict.code == otc::Code::kOk) != (verdict.condition == Condition::kDone)) std::abort();
  }
  (void)ParseHttpDate(text);
  (void)ParseRetryAfter(text, otc::host::WallTime());
  return 0;
}
