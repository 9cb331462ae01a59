#include "host/controllers/node_controller.h"

#include <algorithm>

#include "host/controllers/node_plan.h"
#include "host/kube/rate_limiter.h"

namespace otc::host {
namespace {

constexpr Duration kCachePoll = std::chrono::milliseconds(100);
// client-go's limiter for each key. Its second one, ten keys a second over all,
// would tear batches apart: what failed together is tried again together.
constexpr Duration kFirstRetry = std::chrono::milliseconds(5);
constexpr Duration kLastRetry = std::chrono::seconds(1000);

bool NeedsSync(const kube::Node& node) {
  return IsUninitialized(node) || !PlanLabelReconciliation(node).empty();
}

}  // namespace

Status WaitForCache(const kube::NodeLister& nodes, const CallContext& context) {
  while (!nodes.HasSynced()) {
    OTC_RETURN_IF_ERROR(context.SleepUntil(context.clock->Now() + kCachePoll));
  }
  return context.Check();
}

NodeController::NodeController(const ControllerDeps& deps, const NodeControllerOptions& options)
    : deps_(deps),
      options_(options),
      cancellation_(Cancellation::Create()),
      queue_(std::make_shared<kube::WorkQueue>(
          "Nodes", kube::MakeExponentialLimiter(kFirstRetry, kLastRetry), deps.clock,
          deps.metrics)),
      initializer_(deps, options),
      sync_(deps, options) {}

NodeController::~NodeController() { Stop(); }

void NodeController::Start() {
  deps_.nodes.AddHandler([queue = queue_](const kube::NodePtr&, const kube::NodePtr& node) {
    if (node != nullptr && NeedsSync(*node)) queue->Add(node->meta.name);
  });
  for (int i = 0; i < options_.concurrent_syncs; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
  threads_.emplace_back([this] { SyncPeriodically(); });
}

void NodeController::Cancel() {
  cancellation_->Cancel("Stopping", "the node controller is stopping");
  queue_->ShutDown();
}

void NodeController::Stop() {
  Cancel();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

CallContext NodeController::Context() const {
  CallContext context;
  context.clock = &deps_.clock;
  context.cancellation = cancellation_;
  return context;
}

std::vector<std::string> NodeController::NextBatch(const CallContext& context) {
  std::vector<std::string> batch;
  const auto first = queue_->Get(context);
  if (!first) return batch;
  batch.push_back(*first);
  if (!initializer_.NeedsCloud(*first)) return batch;
  // A node that failed before has waited enough.
  const bool retried = queue_->Retries(*first) > 0;
  const CallContext window =
      context.WithTimeout(retried ? Duration::zero() : options_.batch_window);
  while (batch.size() < options_.batch_max) {
    const auto next = queue_->Get(window);
    if (!next) break;
    batch.push_back(*next);
  }
  return batch;
}

void NodeController::Work() {
  const CallContext context = Context();
  if (!WaitForCache(deps_.nodes, context).ok()) return;
  while (context.Check().ok()) {
    const std::vector<std::string> batch = NextBatch(context);
    if (batch.empty()) return;  // shut down
    const std::vector<std::string> again = initializer_.Sync(batch, context);
    for (const std::string& name : batch) {
      if (std::find(again.begin(), again.end(), name) == again.end()) {
        queue_->Forget(name);
      } else {
        queue_->AddRateLimited(name);
      }
      queue_->Done(name);
    }
  }
}

void NodeController::SyncPeriodically() {
  const CallContext context = Context();
  if (!WaitForCache(deps_.nodes, context).ok()) return;
  do {
    sync_.SyncAll(context);
  } while (context.SleepUntil(deps_.clock.Now() + options_.status_update_period).ok());
}

}  // namespace otc::host
