// DeleteOptions: what a DELETE may ask for.
#ifndef OTC_TESTS_SIM_KUBE_DELETE_OPTIONS_H_
#define OTC_TESTS_SIM_KUBE_DELETE_OPTIONS_H_

#include <string>

#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/http_message.h"
#include "tests/sim/kube/resources.h"

namespace otc::kubesim {

struct DeleteOptions {
  std::string uid;  // preconditions; empty: none
  std::string resource_version;
  bool dry_run = false;
};

// From body and query. propagationPolicy and gracePeriodSeconds are accepted and
// without effect: there is no garbage collector.
ApiResult<DeleteOptions> ParseDeleteOptions(const HttpRequest& request);

// Why the preconditions do not hold; "" if they do.
std::string FailedPrecondition(const DeleteOptions& options, const std::string& uid,
                               const std::string& version);

// The Status that answers a finished DELETE.
Json DeletedStatus(const ResourceInfo& resource, const std::string& name, const std::string& uid);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_DELETE_OPTIONS_H_
