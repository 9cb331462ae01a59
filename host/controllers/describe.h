// DescribeNodes: one question to the node plugin, one answer for every node.
#ifndef OTC_HOST_CONTROLLERS_DESCRIBE_H_
#define OTC_HOST_CONTROLLERS_DESCRIBE_H_

#include <functional>
#include <string>
#include <vector>

#include "host/controllers/instances.h"
#include "host/kube/event_recorder.h"

namespace otc::host {

using NodeAnswer = std::function<void(const kube::NodePtr& node,
                                      const plugin::v1::InstanceDescribeResult& result)>;

// Asks about `nodes` and calls `on_answer` exactly once for each, as answers
// become known, on the calling thread. Answers belong to a node by its UID,
// never by its name alone (P-B6). A node without an answer gets UNKNOWN with the
// reason of the failed call ("NoResult" if it did not fail), and so does one
// that is called gone without a proof. Events of the plugin are recorded under
// `component`. The status is the plugin's, for logs.
Status DescribeNodes(InstancesProvider& instances, const std::vector<kube::NodePtr>& nodes,
                     const DescribeOptions& options, const CallContext& context,
                     kube::EventRecorder& events, const std::string& component,
                     const NodeAnswer& on_answer);

// "NoQuota: the project has …": reason and message of an answer, for people.
std::string AnswerText(const plugin::v1::InstanceDescribeResult& result);

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_DESCRIBE_H_
