#include "host/controllers/describe.h"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace otc::host {
namespace {

using plugin::v1::EventRecord;
using plugin::v1::InstanceDescribeResult;

InstanceDescribeResult Unknown(const kube::Node& node, const std::string& reason,
                               const std::string& message) {
  InstanceDescribeResult result;
  result.set_node_name(node.meta.name);
  result.set_node_uid(node.meta.uid);
  result.set_state(plugin::v1::INSTANCE_STATE_UNKNOWN);
  result.set_reason(reason);
  result.set_message(message);
  return result;
}

bool IsGoneWithoutProof(const InstanceDescribeResult& result) {
  return result.state() == plugin::v1::INSTANCE_STATE_GONE &&
         (!result.has_proof() || result.proof().method() == plugin::v1::PROOF_METHOD_NONE);
}

}  // namespace

Status DescribeNodes(InstancesProvider& instances, const std::vector<kube::NodePtr>& nodes,
                     const DescribeOptions& options, const CallContext& context,
                     kube::EventRecorder& events, const std::string& component,
                     const NodeAnswer& on_answer) {
  if (nodes.empty()) return Status::Ok();
  struct Asked {
    const kube::NodePtr* node;
    bool answered = false;
  };
  std::unordered_map<std::string_view, Asked> by_uid;  // keys live as long as `nodes`
  by_uid.reserve(nodes.size());
  for (const kube::NodePtr& node : nodes) by_uid.emplace(node->meta.uid, Asked{&node});

  const auto on_result = [&](const InstanceDescribeResult& result) {
    const auto it = by_uid.find(result.node_uid());
    if (it == by_uid.end() || std::exchange(it->second.answered, true)) return;
    const kube::NodePtr& node = *it->second.node;
    if (IsGoneWithoutProof(result)) {
      on_answer(node, Unknown(*node, "NoProof", "called gone without a proof of absence"));
    } else {
      on_answer(node, result);
    }
  };
  const auto on_event = [&](const EventRecord& event) {
    const auto it = by_uid.find(event.about_uid());
    if (it == by_uid.end()) return;
    const bool warning = event.type() == plugin::v1::EVENT_TYPE_WARNING;
    events.Record(component, kube::ReferenceTo(**it->second.node),
                  warning ? kube::EventType::kWarning : kube::EventType::kNormal, event.reason(),
                  event.message());
  };
  Status status = instances.Describe(nodes, options, context, on_result, on_event);
  for (const auto& [uid, asked] : by_uid) {
    if (asked.answered) continue;
    const kube::NodePtr& node = *asked.node;
    on_answer(node, status.ok() ? Unknown(*node, "NoResult", "the plugin gave no answer")
                                : Unknown(*node, status.reason(), status.message()));
  }
  return status;
}

std::string AnswerText(const InstanceDescribeResult& result) {
  if (result.message().empty()) return result.reason();
  if (result.reason().empty()) return result.message();
  return result.reason() + ": " + result.message();
}

}  // namespace otc::host
