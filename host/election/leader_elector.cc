#include "host/election/leader_elector.h"

#include <algorithm>
#include <utility>

#include "host/base/strings.h"

namespace otc::host {
namespace {

constexpr double kAcquireJitter = 1.2;
constexpr int kReleaseTries = 5;
// A sleep on a condition variable does not count the time for which a virtual
// machine was suspended; the watchdog looks at the clock at least this often.
constexpr Duration kWatchdogPeriod = std::chrono::seconds(1);
// How long an unseen Lease may be out of date before this process calls itself
// unhealthy (client-go's tolerance of an expired lease).
constexpr Duration kHealthTolerance = std::chrono::seconds(20);

bool SameRecord(const kube::Lease& a, const kube::Lease& b) {
  return a.holder == b.holder && a.duration_seconds == b.duration_seconds &&
         a.acquire_time == b.acquire_time && a.renew_time == b.renew_time &&
         a.transitions == b.transitions;
}

// Rounded up: nobody may think that our lease ends earlier than we do.
std::int32_t WholeSeconds(Duration duration) {
  return static_cast<std::int32_t>(std::chrono::ceil<std::chrono::seconds>(duration).count());
}

bool IsTaken(const Status& status) { return status.reason() == "LeaseTaken"; }

}  // namespace

LeaderElector::LeaderElector(const ElectionDeps& deps, ElectionOptions options,
                             ElectionCallbacks callbacks)
    : deps_(deps),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      gate_(deps.clock, options_.lease_duration),
      master_status_(deps.metrics.GetGauge("leader_election_master_status",
                                           "1 while this process holds the lease, else 0.",
                                           {{"name", options_.resource_name}})),
      slow_path_(deps.metrics.GetCounter(
          "leader_election_slowpath_total",
          "Renewals that had to read the lease first, because the direct one failed.",
          {{"name", options_.resource_name}})),
      stop_(Cancellation::Create()) {
  master_status_.Set(0);
}

LeaderElector::~LeaderElector() { Stop(); }

Status LeaderElector::Start() {
  const std::vector<std::string> errors = Validate(options_);
  if (!errors.empty()) {
    return Status(Code::kInvalidArgument, "BadElectionOptions", Join(errors, "; "));
  }
  elector_ = std::thread([this] { Run(); });
  watchdog_ = std::thread([this] { Watch(); });
  return Status::Ok();
}

void LeaderElector::Run() {
  if (!Acquire()) return;
  BecomeLeader();
  RenewUntilLost();
}

bool LeaderElector::Acquire() {
  deps_.log.Info("waiting for leadership",
                 {{"lease", options_.resource_namespace + "/" + options_.resource_name},
                  {"identity", options_.identity}});
  std::string reported;
  while (!stop_->cancelled()) {
    const Status status = TryAcquireOrRenew(MonoTime::max());
    // A process that was stopped while the answer was under way has won nothing.
    if (status.ok() && deps_.clock.Now() < LostAt()) return true;
    if (!status.ok() && status.ToString() != reported) {
      reported = status.ToString();
      deps_.log.Info("not leading", {{"why", status}});
    }
    const double factor = 1.0 + kAcquireJitter * deps_.random.Uniform();
    const auto pause = std::chrono::duration_cast<Duration>(options_.retry_period * factor);
    if (!Context(MonoTime::max()).SleepUntil(deps_.clock.Now() + pause).ok()) break;
  }
  return false;
}

void LeaderElector::BecomeLeader() {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    leading_ = true;
    changed_.notify_all();
  }
  master_status_.Set(1);
  deps_.log.Info("became leader", {{"identity", options_.identity}});
  RecordEvent("became leader");
  if (callbacks_.on_started_leading) callbacks_.on_started_leading();
}

void LeaderElector::RenewUntilLost() {
  const CallContext context = Context(MonoTime::max());
  while (context.SleepUntil(deps_.clock.Now() + options_.retry_period).ok()) {
    Status status(Code::kDeadlineExceeded, "LeaseLost", "not renewed in time");
    while (true) {
      const MonoTime lost_at = LostAt();
      if (deps_.clock.Now() >= lost_at) return Lose(status);
      status = TryAcquireOrRenew(lost_at);
      if (status.ok()) break;
      if (IsTaken(status)) return Lose(status);
      deps_.log.Warn("lease not renewed", {{"why", status}});
      const MonoTime next = std::min(deps_.clock.Now() + options_.retry_period, lost_at);
      if (!context.SleepUntil(next).ok()) return;
    }
  }
}

Status LeaderElector::TryAcquireOrRenew(MonoTime deadline) {
  std::optional<Observed> seen;
  bool leading = false;
  {
    std::lock_guard lock(mutex_);
    seen = observed_;
    leading = leading_;
  }
  const bool mine = seen && seen->lease.holder == options_.identity;
  if (mine && deps_.clock.Now() < seen->at + options_.lease_duration) {
    const Status renewed = Update(seen->lease, deadline);
    if (renewed.ok() || stop_->cancelled()) return renewed;
    slow_path_.Add();
  }

  Result<kube::Lease> current = deps_.api.GetLease(
      options_.resource_namespace, options_.resource_name, RequestContext(deadline));
  if (!current.ok()) {
    if (current.status().code() == Code::kNotFound) return Create(deadline);
    return current.status().WithPrefix("read lease: ");
  }
  const MonoTime now = deps_.clock.Now();
  Observe(*current, now);
  if (!current->holder.empty() && current->holder != options_.identity) {
    if (leading) {
      return Status(Code::kFailedPrecondition, "LeaseTaken",
                    "the lease is held by " + current->holder);
    }
    std::lock_guard lock(mutex_);
    if (now < observed_->at + std::chrono::seconds(current->duration_seconds)) {
      return Status(Code::kFailedPrecondition, "LeaseHeld",
                    "the lease is held by " + current->holder);
    }
  }
  return Update(*current, deadline);
}

Status LeaderElector::Update(kube::Lease current, MonoTime deadline) {
  const std::string now = FormatMicroTime(deps_.clock.Wall());
  kube::Lease wanted = std::move(current);
  if (wanted.holder != options_.identity) {
    wanted.holder = options_.identity;
    wanted.acquire_time = now;
    ++wanted.transitions;
  }
  wanted.duration_seconds = WholeSeconds(options_.lease_duration);
  wanted.renew_time = now;
  const MonoTime sent = deps_.clock.Now();
  Result<kube::Lease> stored = deps_.api.UpdateLease(wanted, RequestContext(deadline));
  if (!stored.ok()) return stored.status().WithPrefix("update lease: ");
  Hold(*stored, sent);
  return Status::Ok();
}

Status LeaderElector::Create(MonoTime deadline) {
  kube::Lease wanted;
  wanted.meta.name = options_.resource_name;
  wanted.meta.namespace_ = options_.resource_namespace;
  wanted.holder = options_.identity;
  wanted.duration_seconds = WholeSeconds(options_.lease_duration);
  wanted.acquire_time = FormatMicroTime(deps_.clock.Wall());
  wanted.renew_time = wanted.acquire_time;
  const MonoTime sent = deps_.clock.Now();
  Result<kube::Lease> stored = deps_.api.CreateLease(wanted, RequestContext(deadline));
  if (!stored.ok()) return stored.status().WithPrefix("create lease: ");
  Hold(*stored, sent);
  return Status::Ok();
}

void LeaderElector::Hold(const kube::Lease& stored, MonoTime sent) {
  Observe(stored, deps_.clock.Now());
  {
    std::lock_guard lock(mutex_);
    last_renewal_sent_ = sent;
    changed_.notify_all();
  }
  gate_.Extend(sent + options_.lease_duration);
}

void LeaderElector::Observe(const kube::Lease& lease, MonoTime at) {
  std::string new_leader;
  {
    std::lock_guard lock(mutex_);
    if (observed_ && SameRecord(observed_->lease, lease)) {
      observed_->lease = lease;  // its resourceVersion may be newer
      return;
    }
    observed_ = Observed{lease, at};
    if (lease.holder == reported_leader_) return;
    reported_leader_ = lease.holder;
    new_leader = lease.holder;
  }
  deps_.log.Info("lease has a new holder", {{"holder", new_leader}});
  if (callbacks_.on_new_leader) callbacks_.on_new_leader(new_leader);
}

void LeaderElector::Watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_ && !lost_) {
    const MonoTime now = deps_.clock.Now();
    MonoTime until = MonoTime::max();
    if (leading_) {
      if (now >= LostAtLocked()) {
        lock.unlock();
        return Lose(
            Status(Code::kDeadlineExceeded, "LeaseLost", "the lease could not be renewed in time"));
      }
      until = std::min(LostAtLocked(), now + kWatchdogPeriod);
    }
    deps_.clock.WaitUntil(changed_, lock, until);
  }
}

void LeaderElector::Lose(const Status& why) {
  {
    std::lock_guard lock(mutex_);
    if (lost_ || stopping_) return;
    lost_ = true;
    leading_ = false;
    changed_.notify_all();
  }
  gate_.Close("the lease was lost (" + why.message() + ")");
  master_status_.Set(0);
  stop_->Cancel("LeaseLost", why.message());
  // First of all what ends the process: a log may block.
  if (callbacks_.on_lost) callbacks_.on_lost(why);
  deps_.log.Error("lost leadership", {{"why", why}});
  RecordEvent("stopped leading");
}

void LeaderElector::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  gate_.Close("this process is stopping");
  stop_->Cancel("Stopping", "leader election was stopped");
  if (elector_.joinable()) elector_.join();
  if (watchdog_.joinable()) watchdog_.join();

  bool led = false;
  bool held = false;  // also if it was won only while stopping
  {
    std::lock_guard lock(mutex_);
    led = std::exchange(leading_, false);
    held = !lost_ && !released_ && observed_ && observed_->lease.holder == options_.identity;
    released_ = true;
  }
  if (led) {
    master_status_.Set(0);
    RecordEvent("stopped leading");
  }
  if (held && options_.release_on_exit) Release();
}

void LeaderElector::Release() {
  CallContext context;
  context.clock = &deps_.clock;
  context.deadline = deps_.clock.Now() + options_.renew_deadline;
  Status status;
  for (int i = 0; i < kReleaseTries; ++i) {
    Result<kube::Lease> lease =
        deps_.api.GetLease(options_.resource_namespace, options_.resource_name, context);
    status = lease.status();
    if (!status.ok()) break;
    if (lease->holder != options_.identity) return;
    kube::Lease free = *lease;
    free.holder.clear();
    free.duration_seconds = 1;
    free.acquire_time = FormatMicroTime(deps_.clock.Wall());
    free.renew_time = free.acquire_time;
    status = deps_.api.UpdateLease(free, context).status();
    if (status.code() != Code::kAborted) break;
  }
  if (status.ok()) {
    deps_.log.Info("lease released");
  } else {
    deps_.log.Warn("lease not released; it runs out by itself", {{"why", status}});
  }
}

bool LeaderElector::IsLeader() const {
  std::lock_guard lock(mutex_);
  return leading_;
}

std::string LeaderElector::Holder() const {
  std::lock_guard lock(mutex_);
  return observed_ ? observed_->lease.holder : "";
}

Status LeaderElector::Health() const {
  std::lock_guard lock(mutex_);
  if (!observed_ || observed_->lease.holder != options_.identity) return Status::Ok();
  if (deps_.clock.Now() <= observed_->at + options_.lease_duration + kHealthTolerance) {
    return Status::Ok();
  }
  return Status(Code::kUnavailable, "LeaseExpired",
                "holds the lease but could not renew it for longer than its duration");
}

MonoTime LeaderElector::LostAt() const {
  std::lock_guard lock(mutex_);
  return LostAtLocked();
}

MonoTime LeaderElector::LostAtLocked() const {
  // Never later than four fifths of the lease, whatever the other two are.
  const Duration led =
      std::min(options_.retry_period + options_.renew_deadline, options_.lease_duration / 5 * 4);
  return last_renewal_sent_ + led;
}

CallContext LeaderElector::Context(MonoTime deadline) const {
  CallContext context;
  context.clock = &deps_.clock;
  context.deadline = deadline;
  context.cancellation = stop_;
  return context;
}

CallContext LeaderElector::RequestContext(MonoTime deadline) const {
  // One request that hangs must not eat the whole deadline.
  return Context(deadline).WithTimeout(
      std::max<Duration>(std::chrono::seconds(1), options_.renew_deadline / 2));
}

void LeaderElector::RecordEvent(const std::string& what) {
  kube::ObjectReference lease{"coordination.k8s.io/v1", "Lease", options_.resource_namespace,
                              options_.resource_name,   "",      ""};
  {
    std::lock_guard lock(mutex_);
    if (observed_) {
      lease.uid = observed_->lease.meta.uid;
      lease.resource_version = observed_->lease.meta.resource_version;
    }
  }
  deps_.events.Record("cloud-controller-manager", lease, kube::EventType::kNormal, "LeaderElection",
                      options_.identity + " " + what);
}

}  // namespace otc::host
