#include "host/controllers/lifecycle_controller.h"

#include <algorithm>
#include <utility>

#include "host/controllers/describe.h"
#include "host/controllers/node_controller.h"
#include "host/controllers/node_names.h"
#include "host/controllers/node_plan.h"

namespace otc::host {
namespace {

using plugin::v1::InstanceDescribeResult;

// The alarm is written on at most this many Nodes; the log and the metric say
// how many there are.
constexpr std::size_t kAlarmedNodes = 20;
// Events live for an hour.
constexpr Duration kAlarmAgain = std::chrono::hours(1);

bool IsReady(const kube::Node& node) { return node.ready == kube::Tristate::kTrue; }

}  // namespace

NodeLifecycleController::NodeLifecycleController(const ControllerDeps& deps,
                                                 const LifecycleOptions& options)
    : deps_(deps),
      options_(options),
      writer_(deps.api, deps.gate, deps.random, options.write_timeout),
      guard_(options.guard),
      deleted_(deps.metrics.GetCounter("otc_host_nodes_deleted_total",
                                       "Nodes deleted because their server is gone.")),
      trips_(
          deps.metrics.GetCounter("otc_host_deletion_guard_trips_total",
                                  "How often the deletion guard stopped all deletions of Nodes.")),
      stopped_(deps.metrics.GetGauge(
          "otc_host_deletion_guard_tripped",
          "1 while the deletion guard stops all deletions of Nodes, else 0.")),
      absent_nodes_(deps.metrics.GetGauge(
          "otc_host_nodes_absent", "Nodes in the cluster whose server the cloud calls gone.")),
      cancellation_(Cancellation::Create()) {}

NodeLifecycleController::~NodeLifecycleController() { Stop(); }

void NodeLifecycleController::Start() {
  thread_ = std::thread([this] {
    const CallContext context = Context();
    if (!WaitForCache(deps_.nodes, context).ok()) return;
    do {
      RunPass(context);
    } while (context.SleepUntil(deps_.clock.Now() + options_.monitor_period).ok());
  });
}

void NodeLifecycleController::Cancel() {
  cancellation_->Cancel("Stopping", "the node lifecycle controller is stopping");
}

void NodeLifecycleController::Stop() {
  Cancel();
  if (thread_.joinable()) thread_.join();
}

CallContext NodeLifecycleController::Context() const {
  CallContext context;
  context.clock = &deps_.clock;
  context.cancellation = cancellation_;
  return context;
}

void NodeLifecycleController::RunPass(const CallContext& context) {
  if (!deps_.nodes.HasSynced()) return;
  const std::vector<kube::NodePtr> nodes = deps_.nodes.List();
  for (const kube::NodePtr& node : nodes) {
    if (IsReady(*node)) HandleReady(*node, context);
  }
  const std::vector<kube::NodePtr> due = DueNodes(nodes);
  if (!context.Check().ok()) return;

  std::vector<kube::NodePtr> absent;
  std::vector<kube::NodePtr> shut_down;
  std::size_t unknown = 0;
  std::string example;
  const Status status = DescribeNodes(
      *deps_.instances, due, DescribeOptions{}, context.WithTimeout(options_.describe_timeout),
      deps_.events, kLifecycleComponent,
      [&](const kube::NodePtr& node, const InstanceDescribeResult& result) {
        HandleAnswer(node, result, &absent, &shut_down);
        if (result.state() == plugin::v1::INSTANCE_STATE_UNKNOWN && unknown++ == 0) {
          example = node->meta.name + ": " + AnswerText(result);
        }
      });
  if (!status.ok()) deps_.log.Warn("describing nodes failed", {{"why", status}});
  if (unknown > 0) {
    deps_.log.Warn("the state of some servers is not known; their nodes stay as they are",
                   {{"nodes", std::uint64_t{unknown}}, {"example", example}});
  }

  UpdateStop(nodes, absent);
  for (const kube::NodePtr& node : shut_down) AddShutdownTaint(*node, context);
  for (const kube::NodePtr& node : absent) HandleAbsent(*node, context);
}

void NodeLifecycleController::HandleReady(const kube::Node& node, const CallContext& context) {
  // A taint on another cloud's node is that cloud's.
  if (!HasShutdownTaint(node) || (!node.provider_id.empty() && !HasOwnProviderId(node))) return;
  const Status status = writer_.UpdateTaints(node.meta.name, WithoutShutdownTaint, context);
  LogWrite(deps_.log, "shutdown taint removed", node.meta.name, status);
}

std::vector<kube::NodePtr> NodeLifecycleController::DueNodes(
    const std::vector<kube::NodePtr>& nodes) {
  const MonoTime now = deps_.clock.Now();
  std::set<std::string> not_ready;
  std::vector<kube::NodePtr> due;
  for (const kube::NodePtr& node : nodes) {
    if (IsReady(*node) || node->meta.deleting) continue;
    not_ready.insert(node->meta.uid);
    if (watches_[node->meta.uid].next <= now) due.push_back(node);
  }
  std::erase_if(watches_, [&](const auto& entry) { return not_ready.count(entry.first) == 0; });
  // A node that is Ready again, or not there any more, starts anew.
  guard_.Retain(not_ready);
  return due;
}

void NodeLifecycleController::HandleAnswer(const kube::NodePtr& node,
                                           const InstanceDescribeResult& result,
                                           std::vector<kube::NodePtr>* absent,
                                           std::vector<kube::NodePtr>* shut_down) {
  const std::string& uid = node->meta.uid;
  if (result.state() == plugin::v1::INSTANCE_STATE_GONE) {
    guard_.Absent(*node, deps_.clock.Now());
    absent->push_back(node);
    return;
  }
  guard_.NotAbsent(uid);
  Postpone(uid);
  if (result.state() == plugin::v1::INSTANCE_STATE_SHUT_DOWN) shut_down->push_back(node);
}

void NodeLifecycleController::Postpone(const std::string& uid) {
  Watch& watch = watches_[uid];
  watch.pause = std::min(std::max(watch.pause * 2, options_.monitor_period), options_.recheck_max);
  watch.next = deps_.clock.Now() + watch.pause;
}

void NodeLifecycleController::AddShutdownTaint(const kube::Node& node, const CallContext& context) {
  if (HasShutdownTaint(node)) return;
  const Status status = writer_.UpdateTaints(node.meta.name, WithShutdownTaint, context);
  LogWrite(deps_.log, "node of a shut-down server tainted", node.meta.name, status);
}

void NodeLifecycleController::HandleAbsent(const kube::Node& node, const CallContext& context) {
  const GuardDecision decision = guard_.Decide(node, deps_.clock.Now(), deps_.clock.Wall());
  Watch& watch = watches_[node.meta.uid];
  switch (decision.verdict) {
    case GuardVerdict::kDelete:
      watch = Watch{};  // if it fails, the next pass tries again
      Delete(node, context);
      return;
    case GuardVerdict::kWait:
      watch = Watch{std::min(decision.ask_again, deps_.clock.Now() + options_.recheck_max), {}};
      break;
    case GuardVerdict::kStopped:
    case GuardVerdict::kNever:
      Postpone(node.meta.uid);
      break;
  }
  deps_.log.Info("server is gone, node is kept", {{"node", node.meta.name}, {"why", decision.why}});
}

void NodeLifecycleController::Delete(const kube::Node& node, const CallContext& context) {
  const std::string& name = node.meta.name;
  if (!writer_.MayWrite().ok()) return;
  // The cache may lag: the server's newest state decides.
  const Result<kube::Node> newest = writer_.Get(name, "", context);
  if (!newest.ok()) {
    deps_.log.Warn("node not deleted", {{"node", name}, {"why", newest.status()}});
    return;
  }
  if (newest->meta.uid != node.meta.uid || IsReady(*newest) || newest->meta.deleting ||
      !HasOwnProviderId(*newest)) {
    deps_.log.Info("node not deleted, it has changed", {{"node", name}});
    return;
  }
  deps_.events.Record(kLifecycleComponent, kube::ReferenceTo(*newest), kube::EventType::kNormal,
                      "DeletingNode",
                      "Deleting node " + name + " because it does not exist in the cloud provider");
  kube::DeletePreconditions preconditions;
  preconditions.uid = newest->meta.uid;
  preconditions.resource_version = newest->meta.resource_version;
  guard_.Deleting(node.meta.uid, deps_.clock.Now());
  const Status status = writer_.Delete(name, preconditions, context);
  if (status.ok() || status.code() == Code::kNotFound) {
    deleted_.Add();
    deps_.log.Info("node deleted", {{"node", name}});
    return;
  }
  deps_.log.Warn("node not deleted", {{"node", name}, {"why", status}});
  if (status.code() == Code::kAborted) return;  // changed meanwhile: judged anew next time
  deps_.events.Record(kLifecycleComponent, kube::ReferenceTo(*newest), kube::EventType::kWarning,
                      "DeletingNodeFailed",
                      "Deleting node " + name + " failed: " + status.ToString());
}

void NodeLifecycleController::UpdateStop(const std::vector<kube::NodePtr>& nodes,
                                         const std::vector<kube::NodePtr>& absent) {
  const MonoTime now = deps_.clock.Now();
  const auto own = std::count_if(nodes.begin(), nodes.end(),
                                 [](const kube::NodePtr& node) { return HasOwnProviderId(*node); });
  const bool tripped = guard_.UpdateStop(static_cast<std::size_t>(own), now);
  stopped_.Set(guard_.stopped() ? 1 : 0);
  absent_nodes_.Set(static_cast<double>(guard_.absent()));
  if (tripped) trips_.Add();
  const bool again = guard_.stopped() && !absent.empty() && now >= last_alarm_ + kAlarmAgain;
  if (!tripped && !again) return;
  last_alarm_ = now;
  deps_.log.Error("deletion guard tripped", {{"why", guard_.stop_text()}});
  for (std::size_t i = 0; i < std::min(absent.size(), kAlarmedNodes); ++i) {
    deps_.events.Record(
        kLifecycleComponent, kube::ReferenceTo(*absent[i]), kube::EventType::kWarning,
        "DeletionGuardTripped",
        guard_.stop_text() + ". If the servers are really gone, delete their Nodes by hand");
  }
}

}  // namespace otc::host
