// What an answer of the cloud means: its error body in any of the ten shapes that
// OTC's services use, the canonical code, whether it proves that something does
// not exist, and whether the request may be sent again.
//
// Pure functions and tables; the texts of answers are never branched on. Bad
// input of any kind gives an error with the raw text as its message.
#ifndef OTC_HOST_CLOUD_ERRORS_H_
#define OTC_HOST_CLOUD_ERRORS_H_

#include <string>
#include <string_view>

#include "sdk/include/otc/cpp/status.h"

namespace otc::host::cloud {

struct CloudError {
  // "Ecs.0114", "APIGW.0301", "SecurityGroupRuleExists"; the kind where the code
  // is only the HTTP status again. Empty: none found.
  std::string service_code;
  std::string message;     // one line, valid UTF-8, at most 1 KiB
  std::string kind;        // the name around it: "itemNotFound", "NeutronError", "error"
  std::string request_id;  // from the body; the headers' is asked first
};

CloudError ParseErrorBody(std::string_view body);

// The gateway in front of the service answered, not the service.
bool IsGatewayCode(std::string_view service_code);

// The rows of the retry table.
enum class Condition {
  kDone,          // success
  kNotSent,       // no connection: surely not one byte was acted upon
  kLost,          // connection lost or time-out after sending; 504
  kTimedOut,      // 408
  kThrottled,     // 429
  kFlowLimit,     // 202 that is a refusal (Common.0024)
  kServerError,   // 500, and what is documented as transient despite a 400
  kUnavailable,   // 502, 503
  kBusy,          // the object is in a state that passes
  kConflict,      // exists already, or a quota is used up
  kUnauthorized,  // 401: once more only after the clock was corrected
  kRefused,       // the other 4xx, and everything unexpected
};

struct Verdict {
  Condition condition = Condition::kRefused;
  Code code = Code::kUnknown;
  bool proves_absence = false;
};

Verdict Judge(int http_status, const CloudError& error);

// HTTP methods as the table groups them. A READ sent by POST counts as kGet.
enum class MethodGroup { kGet, kPutDelete, kPost };

enum class Retry {
  kNever,
  kYes,
  kFewTimes,      // at most two more
  kIfIdempotent,  // it may have been carried out: look before repeating
};

Retry RetryRule(Condition condition, MethodGroup method);

// True if the request may have been carried out although it looks failed: a
// write must not be repeated without looking.
bool MayHaveHappened(Condition condition, MethodGroup method);

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_ERRORS_H_
