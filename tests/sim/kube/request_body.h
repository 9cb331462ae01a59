// Request bodies: the one JSON object that a write brings.
#ifndef OTC_TESTS_SIM_KUBE_REQUEST_BODY_H_
#define OTC_TESTS_SIM_KUBE_REQUEST_BODY_H_

#include <optional>
#include <string>

#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/http_message.h"
#include "tests/sim/kube/json.h"
#include "tests/sim/kube/request_info.h"

namespace otc::kubesim {

// Content-Type without parameters, in lower case.
std::string MediaType(const HttpRequest& request);

// The JSON object in the body, of the kind that the path says; wrong types are
// refused, unknown fields with fieldValidation=Strict.
ApiResult<Json> DecodeBody(const RequestInfo& info, const HttpRequest& request);

// Name and namespace in the object must be those of the path; fills the
// namespace in.
std::optional<ApiError> CheckNames(const RequestInfo& info, Json& document);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_REQUEST_BODY_H_
