#include "tests/sim/kube/api_error.h"

#include "host/base/strings.h"
#include "tests/sim/kube/resources.h"

namespace otc::kubesim {
namespace {

Json DetailsOf(const ResourceInfo& resource, const std::string& name) {
  Json details = Json::object();
  if (!name.empty()) {
    details["name"] = name;
  }
  if (!resource.group.empty()) {
    details["group"] = resource.group;
  }
  details["kind"] = resource.plural;
  return details;
}

// "spec.x: Invalid value: …" lines, in brackets when there are several.
std::string Summary(const std::vector<Cause>& causes) {
  std::vector<std::string> lines;
  for (const Cause& cause : causes) {
    lines.push_back(cause.field + ": " + cause.message);
  }
  const std::string joined = host::Join(lines, ", ");
  return lines.size() == 1 ? joined : "[" + joined + "]";
}

Json CausesJson(const std::vector<Cause>& causes) {
  Json list = Json::array();
  for (const Cause& cause : causes) {
    list.push_back({{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
  }
  return list;
}

}  // namespace

Json ApiError::ToStatus() const {
  Json status = {{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
                 {"status", "Failure"}, {"message", message}, {"code", code}};
  if (!reason.empty()) {
    status["reason"] = reason;
  }
  if (!list_continue.empty()) {
    status["metadata"]["continue"] = list_continue;
  }
  Json full_details = details;
  if (retry_after_seconds > 0) {
    full_details["retryAfterSeconds"] = retry_after_seconds;
  }
  if (!full_details.is_null()) {
    status["details"] = std::move(full_details);
  }
  return status;
}

std::string ReasonOfCode(int code) {
  switch (code) {
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
      return "Expired";
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
      return "";
  }
}

ApiError BadRequest(std::string message) {
  return {.code = 400, .reason = "BadRequest", .message = std::move(message)};
}

ApiError Unauthorized() {
  return {.code = 401, .reason = "Unauthorized", .message = "Unauthorized"};
}

ApiError Forbidden(const ResourceInfo& resource, const std::string& name, std::string why) {
  std::string message = resource.QualifiedName();
  message += name.empty() ? " is forbidden: " : " \"" + name + "\" is forbidden: ";
  return {.code = 403,
          .reason = "Forbidden",
          .message = message + why,
          .details = DetailsOf(resource, name)};
}

ApiError NotFound(const ResourceInfo& resource, const std::string& name) {
  return {.code = 404,
          .reason = "NotFound",
          .message = resource.QualifiedName() + " \"" + name + "\" not found",
          .details = DetailsOf(resource, name)};
}

ApiError PathNotFound() {
  return {.code = 404,
          .reason = "NotFound",
          .message = "the server could not find the requested resource",
          .details = Json::object()};
}

ApiError AlreadyExists(const ResourceInfo& resource, const std::string& name) {
  return {.code = 409,
          .reason = "AlreadyExists",
          .message = resource.QualifiedName() + " \"" + name + "\" already exists",
          .details = DetailsOf(resource, name)};
}

ApiError Conflict(const ResourceInfo& resource, const std::string& name, std::string why) {
  return {.code = 409,
          .reason = "Conflict",
          .message = "Operation cannot be fulfilled on " + resource.QualifiedName() + " \"" + name +
                     "\": " + why,
          .details = DetailsOf(resource, name)};
}

ApiError Invalid(const ResourceInfo& resource, const std::string& name,
                 const std::vector<Cause>& causes) {
  Json details = Json::object();
  if (!name.empty()) {
    details["name"] = name;
  }
  if (!resource.group.empty()) {
    details["group"] = resource.group;
  }
  details["kind"] = resource.kind;
  details["causes"] = CausesJson(causes);
  const std::string kind =
      resource.group.empty() ? resource.kind : resource.kind + "." + resource.group;
  return {.code = 422,
          .reason = "Invalid",
          .message = kind + " \"" + name + "\" is invalid: " + Summary(causes),
          .details = std::move(details)};
}

ApiError InvalidListOptions(const std::vector<Cause>& causes) {
  return {.code = 422,
          .reason = "Invalid",
          .message = "ListOptions.meta.k8s.io \"\" is invalid: " + Summary(causes),
          .details = {
              {"group", "meta.k8s.io"}, {"kind", "ListOptions"}, {"causes", CausesJson(causes)}}};
}

ApiError MethodNotAllowed() {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource",
          .details = Json::object()};
}

ApiError NotAcceptable(const std::string& offered) {
  return {.code = 406,
          .reason = "NotAcceptable",
          .message = "only the following media types are accepted: " + offered,
          .details = Json::object()};
}

ApiError UnsupportedMediaType(const std::string& supported) {
  return {.code = 415,
          .reason = "UnsupportedMediaType",
          .message =
              "the body of the request was in an unknown format - accepted media types "
              "include: " +
              supported};
}

ApiError TooLarge() {
  return {.code = 413,
          .reason = "RequestEntityTooLarge",
          .message = "Request entity too large: limit is 3145728"};
}

ApiError InternalError(const std::string& message) {
  return {.code = 500,
          .reason = "InternalError",
          .message = "Internal error occurred: " + message,
          .details = {{"causes", Json::array({{{"message", message}}})}}};
}

ApiError PlainError(const std::string& message) { return {.code = 500, .message = message}; }

ApiError InvalidPatch(const std::string& value, const std::string& why) {
  const Cause cause = InvalidValue("patch", value, why);
  return {.code = 422,
          .reason = "Invalid",
          .message = " \"\" is invalid: " + Summary({cause}),
          .details = {{"causes", CausesJson({cause})}}};
}

ApiError Expired(const std::string& message) {
  return {.code = 410, .reason = "Expired", .message = message};
}

ApiError TooLargeResourceVersion(std::uint64_t asked, std::uint64_t current) {
  return {.code = 504,
          .reason = "Timeout",
          .message = "Timeout: Too large resource version: " + std::to_string(asked) +
                     ", current: " + std::to_string(current),
          .details = {{"causes", Json::array({{{"reason", "ResourceVersionTooLarge"},
                                               {"message", "Too large resource version"}}})}},
          .retry_after_seconds = 1};
}

Cause InvalidValue(const std::string& field, const std::string& value, const std::string& why) {
  return {"FieldValueInvalid", "Invalid value: " + host::JsonQuote(value) + ": " + why, field};
}

Cause ForbiddenField(const std::string& field, const std::string& why) {
  return {"FieldValueForbidden", "Forbidden: " + why, field};
}

Cause RequiredValue(const std::string& field, const std::string& why) {
  return {"FieldValueRequired", why.empty() ? "Required value" : "Required value: " + why, field};
}

Cause DuplicateValue(const std::string& field, const std::string& value) {
  return {"FieldValueDuplicate", "Duplicate value: " + value, field};
}

Cause UnsupportedValue(const std::string& field, const std::string& value,
                       const std::vector<std::string>& allowed) {
  std::vector<std::string> quoted;
  for (const std::string& each : allowed) {
    quoted.push_back(host::JsonQuote(each));
  }
  return {"FieldValueNotSupported",
          "Unsupported value: " + host::JsonQuote(value) +
              ": supported values: " + host::Join(quoted, ", "),
          field};
}

}  // namespace otc::kubesim
