#include "host/plugin/instances_adapter.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "host/base/strings.h"
#include "host/plugin/interfaces.h"

namespace otc::host::plugin_host {
namespace {

using plugin::v1::InstanceDescribeRequest;
using plugin::v1::InstanceDescribeResult;

// Labels and annotations may hold anything; one bad byte would fail the message.
std::string Utf8(const std::string& text) {
  return IsValidUtf8(text) ? text : ReplaceInvalidUtf8(text);
}

void FillNode(const kube::Node& from, plugin::v1::Node* to) {
  to->set_name(Utf8(from.meta.name));
  to->set_uid(Utf8(from.meta.uid));
  to->set_provider_id(Utf8(from.provider_id));
  // A node that has a providerID is found by it; labels and annotations matter
  // only before (docs/decisions/0005-labels-in-describe.md).
  if (from.provider_id.empty()) {
    for (const auto& [key, value] : from.meta.labels) {
      (*to->mutable_labels())[Utf8(key)] = Utf8(value);
    }
    for (const auto& [key, value] : from.meta.annotations) {
      (*to->mutable_annotations())[Utf8(key)] = Utf8(value);
    }
  }
  for (const kube::NodeAddress& address : from.addresses) {
    auto* added = to->add_addresses();
    added->set_type(Utf8(address.type));
    added->set_address(Utf8(address.address));
  }
  to->set_ready(from.ready == kube::Tristate::kTrue);
  to->set_system_uuid(Utf8(from.system_uuid));
  to->set_created_unix_ms(from.meta.creation_unix_ms);
  for (const kube::Taint& taint : from.taints) to->add_taint_keys(Utf8(taint.key));
}

// Why a GONE does not count; null: it does.
const char* ProofFault(const InstanceDescribeResult& result, std::int64_t asked_unix_ms) {
  if (!result.has_proof() || result.proof().method() == plugin::v1::PROOF_METHOD_NONE ||
      !plugin::v1::ProofMethod_IsValid(result.proof().method())) {
    return "without a proof";
  }
  if (result.proof().observed_unix_ms() < asked_unix_ms) {
    return "with a proof that is older than the question";
  }
  return nullptr;
}

// The results of one call.
class Receiver {
 public:
  Receiver(const std::vector<kube::NodePtr>& nodes, std::int64_t asked_unix_ms)
      : asked_unix_ms_(asked_unix_ms) {
    for (const kube::NodePtr& node : nodes) uids_[node->meta.name] = node->meta.uid;
  }

  // Null: the result counts (a GONE may have become UNKNOWN). Else why not.
  const char* Accept(InstanceDescribeResult* result) {
    const auto node = uids_.find(result->node_name());
    if (node == uids_.end()) return "unknown_node";
    if (!result->node_uid().empty() && result->node_uid() != node->second) return "other_uid";
    result->set_node_uid(node->second);  // whoever reads on goes by the UID
    if (!seen_.insert(result->node_name()).second) return "duplicate";
    if (!plugin::v1::InstanceState_IsValid(result->state())) {
      result->set_state(plugin::v1::INSTANCE_STATE_UNKNOWN);
    }
    if (result->state() == plugin::v1::INSTANCE_STATE_GONE) {
      if (const char* fault = ProofFault(*result, asked_unix_ms_)) {
        result->set_state(plugin::v1::INSTANCE_STATE_UNKNOWN);
        result->set_reason("GoneWithoutProof");
        result->set_message(std::string("the plugin said GONE ") + fault);
        gone_without_proof_ = true;
      }
    }
    return nullptr;
  }

  bool gone_without_proof() { return std::exchange(gone_without_proof_, false); }

 private:
  const std::int64_t asked_unix_ms_;
  std::map<std::string, std::string> uids_;
  std::set<std::string> seen_;
  bool gone_without_proof_ = false;
};

}  // namespace

std::string EncodeNodes(const std::vector<kube::NodePtr>& nodes) {
  std::string out;
  InstanceDescribeRequest part;  // reused: its one node keeps its memory
  for (const kube::NodePtr& node : nodes) {
    if (part.nodes_size() == 0) part.add_nodes();
    part.mutable_nodes(0)->Clear();
    FillNode(*node, part.mutable_nodes(0));
    part.AppendToString(&out);
  }
  return out;
}

InstancesAdapter::InstancesAdapter(ManagedPlugin& plugin, Clock& clock, Log& log, Metrics& metrics,
                                   std::function<ClusterInfo()> cluster)
    : plugin_(plugin),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      cluster_(std::move(cluster)),
      table_(
          static_cast<const otc_instances_v2_1*>(FindTable(*plugin.descriptor(), kInstancesId))) {}

void InstancesAdapter::CountDropped(const char* why, const std::string& node) {
  metrics_
      .GetCounter("otc_plugin_results_dropped_total",
                  "Results of a plugin that were dropped or read as UNKNOWN, by why.",
                  {{"plugin", plugin_.id()}, {"why", why}})
      .Add();
  log_.Warn("result of a plugin was not taken as it is",
            {{"plugin", plugin_.id()}, {"why", why}, {"node", node}});
}

Status InstancesAdapter::Describe(const std::vector<kube::NodePtr>& nodes,
                                  const DescribeOptions& options, const CallContext& context,
                                  const OnResult& on_result, const OnEvent& on_event) {
  const std::shared_ptr<PluginInstance> instance = plugin_.Running();
  if (instance == nullptr) {
    const PluginSnapshot now = plugin_.Snapshot();
    return Status(Code::kUnavailable, "NotStarted",
                  "plugin " + now.id + " is " + PluginStateName(now.state) +
                      (now.reason.empty() ? "" : ": " + now.reason));
  }
  const ClusterInfo cluster = cluster_();
  InstanceDescribeRequest rest;
  rest.mutable_cluster()->set_name(Utf8(cluster.name));
  rest.mutable_cluster()->set_uid(Utf8(cluster.uid));
  rest.set_want_metadata(options.want_metadata);
  rest.set_max_age_ms(options.max_age_ms);

  PluginInstance::Work work;
  work.method = table_->describe;
  work.request = EncodeNodes(nodes) + rest.SerializeAsString();
  work.options.slot = "describe";
  work.options.subject =
      nodes.size() == 1 ? "node/" + nodes[0]->meta.name : std::to_string(nodes.size()) + " nodes";
  work.options.results = CallOptions::Results::kStreamed;
  work.options.writes_allowed = false;
  work.options.leader_only = true;

  Receiver receiver(nodes, UnixMillis(clock_.Wall()));
  const auto on_record = [&](std::uint32_t kind, const std::string& record) {
    if (kind == OTC_EMIT_EVENT) {
      plugin::v1::EventRecord event;
      if (!event.ParseFromString(record)) return CountDropped("event_not_parsable", "");
      if (on_event) on_event(event);
      return;
    }
    if (kind != OTC_EMIT_RESULT) return;
    InstanceDescribeResult result;
    if (!result.ParseFromString(record)) return CountDropped("not_parsable", "");
    if (const char* why = receiver.Accept(&result)) return CountDropped(why, result.node_name());
    if (receiver.gone_without_proof()) CountDropped("gone_without_proof", result.node_name());
    on_result(result);
  };
  return instance->Invoke(std::move(work), context, on_record).status;
}

}  // namespace otc::host::plugin_host
