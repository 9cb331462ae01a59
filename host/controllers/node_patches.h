// Bodies of the PATCH requests for Nodes, as JSON text. Pure functions.
//
// Never a PUT: the host's copy of a Node is trimmed, and a PUT would wipe what
// it does not hold.
#ifndef OTC_HOST_CONTROLLERS_NODE_PATCHES_H_
#define OTC_HOST_CONTROLLERS_NODE_PATCHES_H_

#include <string>
#include <vector>

#include "host/controllers/node_addresses.h"
#include "host/controllers/node_plan.h"
#include "host/kube/types.h"

namespace otc::host {

// Merge patch of the Node: everything of a plan in one write, refused by the
// server (409) unless the Node still is `resource_version`.
std::string InitializationPatch(const InitializationPlan& plan,
                                const std::string& resource_version);
// Strategic merge patch of the Node: sets these labels, leaves all others.
std::string LabelsPatch(const LabelMap& labels);
// Strategic merge patch of the Node: the full list (taints are atomic), refused
// by the server unless the Node still is `resource_version`.
std::string TaintsPatch(const std::vector<kube::Taint>& taints,
                        const std::string& resource_version);
// Merge patch of the Node's status: replaces the list.
std::string AddressesPatch(const AddressList& addresses);

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_NODE_PATCHES_H_
