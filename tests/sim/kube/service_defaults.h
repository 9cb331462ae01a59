// Defaults and allocations of Services: enough for controllers of load balancers.
//
// Cluster IPs and node ports are drawn from the name and the port, not from an
// allocator: two Services may get the same, which nothing here depends on.
#ifndef OTC_TESTS_SIM_KUBE_SERVICE_DEFAULTS_H_
#define OTC_TESTS_SIM_KUBE_SERVICE_DEFAULTS_H_

#include "tests/sim/kube/json.h"

namespace otc::kubesim {

void DefaultService(Json& document);
// ipMode VIP for each ingress with an IP and without a mode.
void DefaultServiceStatus(Json& document);
// Cluster IPs and node ports that an update leaves out stay as they were.
void KeepServiceAllocations(const Json& old_document, Json& document);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_SERVICE_DEFAULTS_H_
