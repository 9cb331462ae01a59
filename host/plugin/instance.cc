#include "host/plugin/instance.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "host/plugin/interfaces.h"

namespace otc::host::plugin_host {
namespace {

// At most two at once, so that new nodes do not wait for a sweep.
constexpr int kDescribeWidth = 2;

// Instances that were given up: their threads may come back at any time, and
// what they point to must still be there. Reachable for ever, on purpose.
void KeepForEver(std::shared_ptr<PluginInstance> instance) {
  static auto* mutex = new std::mutex;
  static auto* instances = new std::vector<std::shared_ptr<PluginInstance>>;
  const std::lock_guard lock(*mutex);
  instances->push_back(std::move(instance));
}

// An exception must not leave a slot (ABI-R11). If one does, the call failed and
// the process lives: the frames up to here were unwound like any others.
std::int32_t CallGuarded(const std::string& slot,
                         const std::function<std::int32_t(const otc_call*)>& body,
                         const otc_call* call) {
  std::string what = "an exception of unknown type";
  try {
    return body(call);
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {  // NOLINT: reported as PluginException below
  }
  const std::string message = "an exception left slot " + slot + ": " + what;
  return call->fail(call, OTC_UNKNOWN, ToAbi(kPluginException), ToAbi(message), 0);
}

}  // namespace

Duration DefaultDeadline(const std::string& slot) {
  if (slot == "start" || slot == "get") return std::chrono::seconds(30);
  if (slot == "quiesce") return std::chrono::seconds(10);
  if (slot == "create" || slot == "reconfigure" || slot == "destroy" || slot == "watches") {
    return std::chrono::seconds(5);
  }
  if (slot == "invoke") return std::chrono::seconds(120);
  return std::chrono::seconds(60);
}

PluginInstance::PluginInstance(const otc_plugin& descriptor, const ServiceDeps& deps,
                               Options options, CallObserver& observer)
    : descriptor_(descriptor),
      options_(std::move(options)),
      observer_(observer),
      hub_(deps),
      workers_(
          std::make_shared<WorkerPool>(deps.manifest->id, options_.workers,
                                       std::map<std::string, int>{{"describe", kDescribeWidth}})),
      control_(std::make_shared<WorkerPool>(deps.manifest->id, 1, std::map<std::string, int>{})) {}

PluginInstance::~PluginInstance() {
  workers_->Close();
  control_->Close();
}

Duration PluginInstance::Deadline(const std::string& slot) const {
  const auto it = options_.deadlines.find(slot);
  return it == options_.deadlines.end() ? DefaultDeadline(slot) : it->second;
}

CallOutcome PluginInstance::RunCall(const std::shared_ptr<WorkerPool>& pool,
                                    const WorkerPool::PlacePtr& place,
                                    const std::shared_ptr<Call>& call, Duration grace, Slot slot,
                                    const Call::OnRecord& on_record) {
  Clock& clock = *hub_.deps().clock;
  const MonoTime began = clock.Now();
  // The job holds the instance and the call: it may outlive everything else.
  const Status started =
      pool->Run(place, [self = shared_from_this(), call, slot = std::move(slot)] {
        call->Returned(CallGuarded(call->options().slot, slot, call->abi()));
      });
  CallOutcome outcome;
  if (!started.ok()) {
    outcome.status = started;
  } else if (call->Await(call->context().deadline + grace, on_record)) {
    outcome = call->Outcome();
  } else if (call->given_up()) {
    outcome.status = Status(Code::kCancelled, kQuiescing, "the plugin was given up");
  } else {
    // Whether it came back in this very moment no longer matters to the caller:
    // the records were cut off.
    pool->WriteOff(place);
    outcome = call->OverrunOutcome();
  }
  observer_.OnCallEnd(call->options().slot, outcome, clock.Now() - began, pool == workers_);
  return outcome;
}

CallOutcome PluginInstance::Invoke(Work work, const CallContext& context,
                                   const Call::OnRecord& on_record) {
  const Duration timeout = Deadline(work.options.slot);
  auto place = workers_->Acquire(work.options.slot, context.WithTimeout(timeout));
  if (!place.ok()) return {place.status(), "", ""};
  const auto call =
      std::make_shared<Call>(std::move(work.options), context.WithTimeout(timeout), &hub_);
  {
    const std::lock_guard lock(mutex_);
    active_.insert(call);
    if (closing_) call->Cancel(kQuiescing, "the plugin is being stopped");
  }
  auto request = std::make_shared<const std::string>(std::move(work.request));
  CallOutcome outcome = RunCall(
      workers_, *place, call, kOverrunGrace,
      [this, method = work.method, request](const otc_call* abi) {
        return method(self_, abi,
                      {reinterpret_cast<const std::uint8_t*>(request->data()), request->size()});
      },
      on_record);
  const std::lock_guard lock(mutex_);
  active_.erase(call);
  return outcome;
}

CallOutcome PluginInstance::RunControl(CallOptions options,
                                       std::shared_ptr<Cancellation> cancellation, Duration grace,
                                       const Slot& slot) {
  CallContext context;
  context.clock = hub_.deps().clock;
  context.cancellation = std::move(cancellation);
  context = context.WithTimeout(Deadline(options.slot));
  // Nobody else uses the one place, so this does not wait.
  auto place = control_->Acquire("", context);
  if (!place.ok()) return {place.status(), "", ""};
  const auto call = std::make_shared<Call>(std::move(options), context, &hub_);
  CallOutcome outcome = RunCall(control_, *place, call, grace, slot, nullptr);
  if (outcome.plugin_bug == kCallOverrun) lost_ = true;
  return outcome;
}

Status PluginInstance::Create(const std::string& document,
                              std::shared_ptr<Cancellation> cancellation) {
  CallOptions options;
  options.slot = "create";
  options.cloud_allowed = false;
  options.writes_allowed = false;
  // Apart from self_: what a create that comes back too late has made is never
  // used, only kept, as everything of an instance that was given up.
  created_ = std::make_shared<void*>(nullptr);
  const auto bytes = std::make_shared<const std::string>(document);
  const CallOutcome outcome = RunControl(
      std::move(options), std::move(cancellation), kOverrunGrace,
      [this, created = created_, bytes](const otc_call* call) {
        return descriptor_.create(
            hub_.abi(), call, {reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()},
            created.get());
      });
  if (outcome.status.ok()) {
    self_ = *created_;
    hub_.SetAcceptedConfig(document);
  }
  return outcome.status;
}

Status PluginInstance::Start(std::uint32_t attempt, std::shared_ptr<Cancellation> cancellation) {
  CallOptions options;
  options.slot = "start";
  options.attempt = attempt;
  options.writes_allowed = false;
  return RunControl(std::move(options), std::move(cancellation), kOverrunGrace,
                    [this](const otc_call* call) {
                      return descriptor_.start(self_, call, {nullptr, 0});
                    })
      .status;
}

Status PluginInstance::Reconfigure(const std::string& document,
                                   std::shared_ptr<Cancellation> cancellation) {
  // No worker slot may run meanwhile. New calls wait; running ones get the time
  // that the slowest slot may take.
  CallContext drain;
  drain.clock = hub_.deps().clock;
  drain.cancellation = cancellation;
  Duration longest = DefaultDeadline("describe");
  for (const auto& [slot, deadline] : options_.deadlines) longest = std::max(longest, deadline);
  if (!workers_->Pause(drain.WithTimeout(longest + kOverrunGrace))) {
    workers_->Resume();
    return Status(Code::kFailedPrecondition, kCallOverrun,
                  "a call that began earlier has not returned; the old configuration stays");
  }
  CallOptions options;
  options.slot = "reconfigure";
  const auto bytes = std::make_shared<const std::string>(document);
  const CallOutcome outcome = RunControl(
      std::move(options), std::move(cancellation), kOverrunGrace,
      [this, bytes](const otc_call* call) {
        return descriptor_.reconfigure(
            self_, call, {reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()});
      });
  if (outcome.status.ok()) hub_.SetAcceptedConfig(document);
  if (!Lost()) workers_->Resume();
  return outcome.status;
}

void PluginInstance::CancelActive() {
  std::vector<std::shared_ptr<Call>> calls;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    calls.assign(active_.begin(), active_.end());
  }
  for (const auto& call : calls) call->Cancel(kQuiescing, "the plugin is being stopped");
}

bool PluginInstance::Shutdown() {
  CancelActive();
  CallContext drain;
  drain.clock = hub_.deps().clock;
  if (Lost() || !workers_->Pause(drain.WithTimeout(Deadline("quiesce")))) {
    Abandon();
    return false;
  }
  workers_->Close();
  CallOptions options;
  options.slot = "quiesce";
  // Its answer does not matter, only that it came: what follows is destroy.
  RunControl(std::move(options), nullptr, Duration::zero(), [this](const otc_call* call) {
    return descriptor_.quiesce(self_, call, {nullptr, 0});
  });
  if (!Lost()) {
    CallOptions last;
    last.slot = "destroy";
    RunControl(std::move(last), nullptr, Duration::zero(), [this](const otc_call*) {
      descriptor_.destroy(self_);
      return OTC_OK;
    });
  }
  if (Lost()) {
    Abandon();
    return false;
  }
  control_->Close();
  return true;
}

void PluginInstance::Abandon() {
  hub_.Abandon();
  CancelActive();
  std::vector<std::shared_ptr<Call>> calls;
  {
    const std::lock_guard lock(mutex_);
    calls.assign(active_.begin(), active_.end());
  }
  for (const auto& call : calls) call->GiveUp();
  workers_->Close();
  control_->Close();
  KeepForEver(shared_from_this());
}

}  // namespace otc::host::plugin_host
