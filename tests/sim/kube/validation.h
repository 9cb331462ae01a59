// Validation: the rules of the real API server for what gets stored.
//
// Complete for metadata and for the fields of nodes, leases and events that
// controllers write; other fields are taken as they come.
#ifndef OTC_TESTS_SIM_KUBE_VALIDATION_H_
#define OTC_TESTS_SIM_KUBE_VALIDATION_H_

#include <string>
#include <vector>

#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/json.h"
#include "tests/sim/kube/resources.h"

namespace otc::kubesim {

std::vector<Cause> ValidateCreate(const ResourceInfo& resource, const Json& document);
std::vector<Cause> ValidateUpdate(const ResourceInfo& resource, const Json& old_document,
                                  const Json& document);

// Building blocks: why a text is not such a name; "" if it is.
std::string WhyNotSubdomain(const std::string& text);      // DNS-1123 subdomain
std::string WhyNotDnsLabel(const std::string& text);       // DNS-1123 label
std::string WhyNotQualifiedName(const std::string& text);  // label and taint keys
std::string WhyNotLabelValue(const std::string& text);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_VALIDATION_H_
