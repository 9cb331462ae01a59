// ApiError and ApiResult: how the simulator says no.
//
// An ApiError is what becomes a metav1.Status on the wire. Texts and reasons are
// those that the real API server gives, because clients decide by them.
#ifndef OTC_TESTS_SIM_KUBE_API_ERROR_H_
#define OTC_TESTS_SIM_KUBE_API_ERROR_H_

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/sim/kube/json.h"

namespace otc::kubesim {

struct ResourceInfo;

// One entry of status.details.causes.
struct Cause {
  std::string reason;  // FieldValueInvalid, FieldValueForbidden, …
  std::string message;
  std::string field;
};

struct ApiError {
  int code = 500;
  std::string reason{};
  std::string message{};
  Json details = Json();        // null: none; an empty object is sent as one
  int retry_after_seconds = 0;  // > 0: also sent as header Retry-After
  std::string list_continue{};  // metadata.continue of an expired list

  Json ToStatus() const;
};

ApiError BadRequest(std::string message);
ApiError Unauthorized();
ApiError Forbidden(const ResourceInfo& resource, const std::string& name, std::string why);
ApiError NotFound(const ResourceInfo& resource, const std::string& name);
ApiError PathNotFound();
ApiError AlreadyExists(const ResourceInfo& resource, const std::string& name);
ApiError Conflict(const ResourceInfo& resource, const std::string& name, std::string why);
ApiError Invalid(const ResourceInfo& resource, const std::string& name,
                 const std::vector<Cause>& causes);
ApiError InvalidListOptions(const std::vector<Cause>& causes);
ApiError MethodNotAllowed();
ApiError NotAcceptable(const std::string& offered);
ApiError UnsupportedMediaType(const std::string& supported);
ApiError TooLarge();
ApiError InternalError(const std::string& message);
// A 500 without a reason, as errors that nobody classified come out.
ApiError PlainError(const std::string& message);
// What a patch makes of the object cannot be read: 422.
ApiError InvalidPatch(const std::string& value, const std::string& why);
// The resourceVersion is older than what is kept: 410 Expired.
ApiError Expired(const std::string& message);
// The resourceVersion is newer than what this server has: 504 Timeout.
ApiError TooLargeResourceVersion(std::uint64_t asked, std::uint64_t current);

// How the real server words the causes of a 422.
Cause InvalidValue(const std::string& field, const std::string& value, const std::string& why);
Cause ForbiddenField(const std::string& field, const std::string& why);
Cause RequiredValue(const std::string& field, const std::string& why);
Cause DuplicateValue(const std::string& field, const std::string& value);
Cause UnsupportedValue(const std::string& field, const std::string& value,
                       const std::vector<std::string>& allowed);

// The usual reason of an HTTP status, "" if there is none.
std::string ReasonOfCode(int code);

template <typename T>
class ApiResult {
 public:
  ApiResult(T value) : value_(std::move(value)) {}         // NOLINT: meant to convert
  ApiResult(ApiError error) : value_(std::move(error)) {}  // NOLINT: meant to convert
  bool ok() const { return std::holds_alternative<T>(value_); }
  T& value() { return std::get<T>(value_); }
  const T& value() const { return std::get<T>(value_); }
  const ApiError& error() const { return std::get<ApiError>(value_); }

 private:
  std::variant<T, ApiError> value_;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_API_ERROR_H_
