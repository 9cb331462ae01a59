// What has to change on a Node object: pure functions, no I/O.
//
// "Initialisation" takes the uninitialized taint away and writes providerID and
// labels, once in a node's life. "Reconciliation" keeps the GA labels equal to
// the deprecated beta ones (which are the source of truth, as upstream).
// "Correction" follows the cloud after a resize or a move.
#ifndef OTC_HOST_CONTROLLERS_NODE_PLAN_H_
#define OTC_HOST_CONTROLLERS_NODE_PLAN_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/kube/types.h"
#include "otc/plugin/v1/instances.pb.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host {

using LabelMap = std::map<std::string, std::string>;

bool HasTaint(const kube::Node& node, std::string_view key);
bool IsUninitialized(const kube::Node& node);

struct InitializationPlan {
  std::string provider_id;            // empty: the node keeps its own
  LabelMap labels;                    // only those to write
  std::vector<kube::Taint> taints;    // all that stay, in order
  std::vector<std::string> unusable;  // "key=value" that no label can hold
};

// How `node` becomes initialised. FAILED_PRECONDITION (NoProviderId) if neither
// the node nor the cloud has a providerID; errors of FilterByProvidedIp.
Result<InitializationPlan> PlanInitialization(const kube::Node& node,
                                              const plugin::v1::InstanceMetadata& metadata);

// GA labels that have to be set because the beta label of the same meaning has
// another value. Empty: nothing to do.
LabelMap PlanLabelReconciliation(const kube::Node& node);

// Zone, region and instance-type labels, beta and GA, that differ from what the
// cloud says now. What the cloud does not say is left alone.
LabelMap PlanLabelCorrection(const kube::Node& node, const plugin::v1::InstanceMetadata& metadata);

// Labels in namespaces of Kubernetes itself (kubernetes.io/, k8s.io/ and below),
// which a cloud may not set as additional labels.
bool IsReservedLabel(std::string_view key);
bool IsValidLabelValue(std::string_view value);

// The shutdown taint counts by key and effect.
bool HasShutdownTaint(const kube::Node& node);
std::vector<kube::Taint> WithShutdownTaint(std::vector<kube::Taint> taints);
std::vector<kube::Taint> WithoutShutdownTaint(std::vector<kube::Taint> taints);

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_NODE_PLAN_H_
