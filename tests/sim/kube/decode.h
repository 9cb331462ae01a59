// Decoding of request bodies: the wrong types and times that the server refuses.
#ifndef OTC_TESTS_SIM_KUBE_DECODE_H_
#define OTC_TESTS_SIM_KUBE_DECODE_H_

#include <optional>
#include <string>
#include <vector>

#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/json.h"
#include "tests/sim/kube/resources.h"
#include "tests/sim/kube/schema.h"

namespace otc::kubesim {

// Why the document cannot be read: a known field has a wrong type or an unreadable
// time. Fields that the schema does not know are left alone.
std::optional<std::string> WhyUnreadable(const ResourceInfo& resource, const Json& document);

// 400 for the same.
std::optional<ApiError> CheckTypes(const ResourceInfo& resource, const Json& document);

// Paths of fields that the schema does not know ("spec.foo"), for
// fieldValidation=Strict. Empty for kinds without a schema of their own.
std::vector<std::string> UnknownFields(const ResourceInfo& resource, const Json& document);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_DECODE_H_
