#include "host/kube/api_status.h"

#include <algorithm>

namespace otc::host::kube {
namespace {

Code CodeFor(int http_status, const std::string& reason) {
  switch (http_status) {
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
    case 422:
      return Code::kInvalidArgument;
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kPermissionDenied;
    case 404:
      return Code::kNotFound;
    case 409:
      return reason == "AlreadyExists" ? Code::kAlreadyExists : Code::kAborted;
    case 410:
      return Code::kOutOfRange;
    case 429:
      return Code::kResourceExhausted;
    default:
      return http_status >= 500 && http_status <= 599 ? Code::kUnavailable : Code::kUnknown;
  }
}

// The API's own word for a status that came without a readable body.
std::string ReasonFor(int http_status) {
  switch (http_status) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 406:
      return "NotAcceptable";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "RequestEntityTooLarge";
    case 415:
      return "UnsupportedMediaType";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return "UnexpectedStatus";
  }
}

}  // namespace

Status StatusFromApi(int http_status, const ApiStatus& body, std::uint64_t retry_after_ms,
                     const std::string& what) {
  const std::string reason = body.reason.empty() ? ReasonFor(http_status) : body.reason;
  std::string message = what + ": HTTP " + std::to_string(http_status);
  if (!body.message.empty()) message += ", " + body.message;
  const std::uint64_t wait = std::max(retry_after_ms, body.retry_after_seconds * 1000);
  return Status(CodeFor(http_status, reason), reason, std::move(message), wait);
}

bool IsResourceVersionTooLarge(const ApiStatus& status) {
  if (std::find(status.causes.begin(), status.causes.end(), "ResourceVersionTooLarge") !=
      status.causes.end()) {
    return true;
  }
  // API servers before 1.19 only say so in the message.
  return status.message.find("Too large resource version") != std::string::npos;
}

bool IsExpired(const ApiStatus& status) {
  return status.code == 410 || status.reason == "Expired" || status.reason == "Gone";
}

}  // namespace otc::host::kube
