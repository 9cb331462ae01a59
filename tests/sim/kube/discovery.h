// Discovery, version and health: what clients read before they ask for objects.
#ifndef OTC_TESTS_SIM_KUBE_DISCOVERY_H_
#define OTC_TESTS_SIM_KUBE_DISCOVERY_H_

#include <optional>
#include <string>

#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/http_message.h"
#include "tests/sim/kube/negotiate.h"

namespace otc::kubesim {

// The answer to a path that is no resource; nothing: 404. Aggregated discovery
// and OpenAPI are not served: clients fall back to the plain form.
std::optional<Reply> ServeDiscovery(const HttpRequest& request, const std::string& version,
                                    const std::string& server_address);

// The path lies in a group and version that has resources; in others the real
// server does not even know how to say "not found" in its own way.
bool IsServedGroup(const std::string& path);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_DISCOVERY_H_
