#include "host/controllers/node_initializer.h"

#include <algorithm>
#include <utility>

#include "host/base/strings.h"
#include "host/controllers/describe.h"
#include "host/controllers/node_names.h"
#include "host/controllers/node_patches.h"

namespace otc::host {
namespace {

using plugin::v1::InstanceDescribeResult;

constexpr ConflictRetry kInitRetry = {.tries = 20, .base = std::chrono::milliseconds(50)};

std::vector<double> DelayBuckets() { return ExponentialBuckets(1, 4, 6); }

double SecondsSinceCreation(const kube::Node& node, Clock& clock) {
  const Duration age = clock.Wall() - WallFromUnixMillis(node.meta.creation_unix_ms);
  return std::max(0.0, std::chrono::duration<double>(age).count());
}

}  // namespace

NodeInitializer::NodeInitializer(const ControllerDeps& deps, const NodeControllerOptions& options)
    : deps_(deps),
      options_(options),
      writer_(deps.api, deps.gate, deps.random, options.write_timeout),
      problems_(deps.events, deps.clock, options.report_after, options.report_again),
      taint_removal_delay_(deps.metrics.GetHistogram(
          "node_controller_cloud_provider_taint_removal_delay_seconds",
          "Time from a node's creation until its uninitialized taint is removed.", DelayBuckets())),
      initial_sync_delay_(deps.metrics.GetHistogram(
          "node_controller_initial_node_sync_delay_seconds",
          "Time from a node's creation until it is initialised.", DelayBuckets())) {}

bool NodeInitializer::NeedsCloud(const std::string& name) const {
  const kube::NodePtr node = deps_.nodes.Get(name);
  return node != nullptr && IsUninitialized(*node);
}

std::vector<std::string> NodeInitializer::Sync(const std::vector<std::string>& names,
                                               const CallContext& context) {
  std::vector<std::string> again;
  std::vector<kube::NodePtr> uninitialized;
  for (const std::string& name : names) {
    const kube::NodePtr node = deps_.nodes.Get(name);
    if (node == nullptr) {
      problems_.Clear(name);
    } else if (IsUninitialized(*node)) {
      uninitialized.push_back(node);
    } else {
      problems_.Clear(name);
      if (ReconcileLabels(*node, context) == Outcome::kAgain) again.push_back(name);
    }
  }
  if (uninitialized.empty()) return again;

  DescribeOptions describe;
  describe.want_metadata = true;
  std::vector<Pending> pending;
  const Status status =
      DescribeNodes(*deps_.instances, uninitialized, describe,
                    context.WithTimeout(options_.describe_timeout), deps_.events, kNodeComponent,
                    [&](const kube::NodePtr& node, const InstanceDescribeResult& result) {
                      // A stop says nothing about the node.
                      const bool stopping = !context.Check().ok();
                      if (stopping || Judge(node, result, &pending) == Outcome::kAgain) {
                        again.push_back(node->meta.name);
                      }
                    });
  if (!status.ok()) {
    deps_.log.Warn("describing new nodes failed",
                   {{"why", status}, {"nodes", std::uint64_t{uninitialized.size()}}});
  }
  WriteAll(std::move(pending), context, &again);
  return again;
}

NodeInitializer::Outcome NodeInitializer::ReconcileLabels(const kube::Node& node,
                                                          const CallContext& context) {
  if (PlanLabelReconciliation(node).empty()) return Outcome::kDone;
  const Status status = writer_.UpdateLabels(node.meta.name, PlanLabelReconciliation, context);
  if (status.ok() || status.code() == Code::kNotFound) return Outcome::kDone;
  deps_.log.Warn("labels not reconciled", {{"node", node.meta.name}, {"why", status}});
  return Outcome::kAgain;
}

NodeInitializer::Outcome NodeInitializer::Judge(const kube::NodePtr& node,
                                                const InstanceDescribeResult& result,
                                                std::vector<Pending>* pending) {
  switch (result.state()) {
    case plugin::v1::INSTANCE_STATE_FOREIGN:
      // Somebody else's node; another controller takes its taint away.
      deps_.log.Info("node is not of this cloud",
                     {{"node", node->meta.name}, {"why", AnswerText(result)}});
      problems_.Clear(node->meta.name);
      return Outcome::kDone;
    case plugin::v1::INSTANCE_STATE_RUNNING:
    case plugin::v1::INSTANCE_STATE_SHUT_DOWN:
      // Known but nothing said about it: not ready yet; its next update asks again.
      if (!result.has_metadata()) return Outcome::kDone;
      pending->push_back({node, result.metadata(), ""});
      return Outcome::kDone;
    case plugin::v1::INSTANCE_STATE_GONE:
      Fail(*node, "the cloud has no server for this node (" + AnswerText(result) + ")");
      return Outcome::kAgain;
    default:
      Fail(*node, AnswerText(result));
      return Outcome::kAgain;
  }
}

void NodeInitializer::WriteAll(std::vector<Pending> pending, const CallContext& context,
                               std::vector<std::string>* again) {
  for (int round = 0; !pending.empty(); ++round) {
    std::vector<Pending> conflicts;
    for (Pending& entry : pending) {
      const Outcome outcome = Write(&entry, context);
      if (outcome == Outcome::kAgain) again->push_back(entry.node->meta.name);
      if (outcome == Outcome::kConflict) conflicts.push_back(std::move(entry));
    }
    pending = std::move(conflicts);
    if (pending.empty()) return;
    const auto pause =
        std::chrono::duration_cast<Duration>(kInitRetry.base * (1.0 + deps_.random.Uniform()));
    if (round + 1 >= kInitRetry.tries || !context.SleepUntil(deps_.clock.Now() + pause).ok()) {
      for (const Pending& entry : pending) again->push_back(entry.node->meta.name);
      return;
    }
  }
}

NodeInitializer::Outcome NodeInitializer::Write(Pending* pending, const CallContext& context) {
  const std::string& name = pending->node->meta.name;
  // The newest that the watch has brought, not what was described.
  const kube::NodePtr node = deps_.nodes.Get(name);
  if (node == nullptr || node->meta.uid != pending->node->meta.uid || !IsUninitialized(*node)) {
    problems_.Clear(name);
    return Outcome::kDone;
  }
  // Nothing new has come from the watch yet: it would be refused again.
  if (node->meta.resource_version == pending->refused_version) return Outcome::kConflict;
  const Result<InitializationPlan> plan = PlanInitialization(*node, pending->metadata);
  if (!plan.ok()) {
    Fail(*node, plan.status().reason() + ": " + plan.status().message());
    return Outcome::kAgain;
  }
  const Status status = writer_.MergePatch(
      name, InitializationPatch(*plan, node->meta.resource_version), "", context);
  if (status.code() == Code::kAborted) {
    pending->refused_version = node->meta.resource_version;
    return Outcome::kConflict;
  }
  if (status.code() == Code::kNotFound) return Outcome::kDone;
  // The next leader's business, not a problem of the node.
  if (status.reason() == "LeaseLost" || !context.Check().ok()) return Outcome::kAgain;
  if (!status.ok()) {
    Fail(*node, "the Node could not be written (" + status.ToString() + ")");
    return Outcome::kAgain;
  }
  taint_removal_delay_.Observe(SecondsSinceCreation(*node, deps_.clock));
  problems_.Clear(name);
  WriteAddresses(*node, pending->metadata, context);
  if (!plan->unusable.empty()) {
    deps_.events.Record(kNodeComponent, kube::ReferenceTo(*node), kube::EventType::kWarning,
                        "UnusableLabel",
                        "Not set, because no label can hold it: " + Join(plan->unusable, ", "));
  }
  deps_.events.Record(kNodeComponent, kube::ReferenceTo(*node), kube::EventType::kNormal, "Synced",
                      "Node synced successfully");
  initial_sync_delay_.Observe(SecondsSinceCreation(*node, deps_.clock));
  deps_.log.Info("node initialised", {{"node", name}});
  return Outcome::kDone;
}

void NodeInitializer::WriteAddresses(const kube::Node& node,
                                     const plugin::v1::InstanceMetadata& metadata,
                                     const CallContext& context) {
  const Result<AddressList> wanted = WantedAddresses(node, CloudAddresses(metadata));
  if (!wanted.ok() || wanted->empty() || !AddressesDiffer(node.addresses, *wanted)) return;
  const Status status =
      writer_.MergePatch(node.meta.name, AddressesPatch(*wanted), "status", context);
  // If that fails, the periodic sync repairs it.
  LogWrite(deps_.log, "addresses written", node.meta.name, status);
}

void NodeInitializer::Fail(const kube::Node& node, const std::string& text) {
  deps_.log.Warn("node not initialised", {{"node", node.meta.name}, {"why", text}});
  problems_.Report(node, text);
}

}  // namespace otc::host
