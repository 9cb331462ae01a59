#include "host/plugin/managed_plugin.h"

#include <algorithm>
#include <utility>

#include "host/base/strings.h"
#include "host/plugin/code_mapping.h"
#include "host/plugin/interfaces.h"

namespace otc::host::plugin_host {
namespace {

constexpr std::chrono::seconds kFirstStartDelay{1};
constexpr std::chrono::seconds kLongestStartDelay{60};
// From its own turn on: what comes before it in the list takes nothing away.
constexpr std::chrono::seconds kRequiredPatience{60};

bool TakesCalls(PluginState state) {
  return state == PluginState::kStarted || state == PluginState::kDegraded;
}

LogLevel LevelOf(PluginState state) {
  if (state == PluginState::kFailed) return LogLevel::kError;
  return state == PluginState::kDegraded ? LogLevel::kWarn : LogLevel::kInfo;
}

}  // namespace

ManagedPlugin::ManagedPlugin(PluginConfig config, PluginEnvironment& environment)
    : config_(std::move(config)),
      env_(environment),
      log_(env_.log, env_.clock, env_.metrics, config_.id),
      metrics_(env_.metrics, env_.metric_names, config_.id),
      call_metrics_(env_.metrics, env_.log, config_.id) {
  snapshot_.id = config_.id;
  snapshot_.required = config_.required;
  SetState(PluginState::kDiscovered, "", "named in host.yaml");
}

void ManagedPlugin::SetState(PluginState state, const std::string& reason,
                             const std::string& message) {
  {
    const std::lock_guard lock(mutex_);
    snapshot_.state = state;
    snapshot_.reason = reason;
    snapshot_.message = message;
    snapshot_.since_unix_ms = UnixMillis(env_.clock.Wall());
    running_ = TakesCalls(state) ? instance_ : nullptr;
  }
  for (const PluginState each : LifeCycleStates()) {
    env_.metrics
        .GetGauge("otc_plugin_state", "1 for the state that a plugin is in.",
                  {{"plugin", config_.id}, {"state", PluginStateName(each)}})
        .Set(each == state ? 1 : 0);
  }
  env_.log.Write(LevelOf(state), "plugin state changed",
                 {{"plugin", config_.id},
                  {"state", PluginStateName(state)},
                  {"reason", reason},
                  {"message", message}});
}

void ManagedPlugin::Fail(const Status& why) {
  instance_ = nullptr;
  next_start_ = MonoTime::max();
  SetState(PluginState::kFailed, why.reason(), why.message());
}

void ManagedPlugin::Discover(const HostConfig& config) {
  const std::string* glob = config.DisabledBy(config_.id);
  if (glob == nullptr && config_.enabled) return;
  disabled_by_config_ = true;
  if (config_.required) {
    env_.log.Warn("a required plugin is switched off", {{"plugin", config_.id}});
  }
  SetState(PluginState::kDisabled, "Disabled",
           glob != nullptr ? "disable: " + JsonQuote(*glob) + " in host.yaml"
                           : "enabled: false in host.yaml");
}

bool ManagedPlugin::InUse(const std::string& interface_id) const {
  const auto& wanted = config_.interfaces;
  return FindInterface(interface_id) != nullptr &&
         (wanted.empty() || std::find(wanted.begin(), wanted.end(), interface_id) != wanted.end());
}

void ManagedPlugin::ShowManifest(const VerifiedPlugin& plugin) {
  const std::lock_guard lock(mutex_);
  const inspect::Manifest& manifest = plugin.manifest;
  snapshot_.file = plugin.file.path;
  snapshot_.version = manifest.version;
  snapshot_.abi = std::to_string(manifest.abi_major) + "." + std::to_string(manifest.abi_minor);
  snapshot_.build = manifest.build;
  snapshot_.sha256 = plugin.sha256;
  snapshot_.interfaces.clear();
  for (const std::string& id : manifest.provides) {
    const KnownInterface* known = FindInterface(id);
    const bool served = known != nullptr && known->served;
    snapshot_.interfaces.push_back({id, served, served && InUse(id)});
  }
}

void ManagedPlugin::Verify(const VerifyOptions& options) {
  if (state() != PluginState::kDiscovered) return;
  VerifiedPlugin partial;
  Result<VerifiedPlugin> verified = VerifyPlugin(config_, options, &partial);
  if (!verified.ok()) {
    if (!partial.file.path.empty()) ShowManifest(partial);
    return Fail(verified.status());
  }
  verified_ = std::move(verified).value();
  manifest_ = std::make_shared<const inspect::Manifest>(verified_->manifest);
  ShowManifest(*verified_);
  SetState(PluginState::kVerified, "", "all checks passed; none of its code ran yet");
}

void ManagedPlugin::Load(std::map<std::string, std::string>* taken) {
  if (state() != PluginState::kVerified) return;
  std::set<std::string> in_use;
  for (const std::string& id : manifest_->provides) {
    if (InUse(id)) in_use.insert(id);
  }
  for (const std::string& id : in_use) {
    const auto holder = taken->find(id);
    if (holder == taken->end()) continue;
    return Fail(RefusalStatus(
        verified_->file.path,
        {{"LOAD-7", "interface " + id + ", which plugin " + holder->second + " provides already",
          "one plugin for " + id,
          "disable one of the two in host.yaml, or leave the interface out of its interfaces"}}));
  }
  Result<const otc_plugin*> loaded = LoadPlugin(*verified_, env_.load, env_.clock);
  if (!loaded.ok()) return Fail(loaded.status());
  descriptor_ = *loaded;
  for (const std::string& id : in_use) {
    if (FindInterface(id)->exclusive) (*taken)[id] = config_.id;
  }
  offered_ = std::move(in_use);
  SetState(PluginState::kLoaded, "", "descriptor accepted");
}

std::shared_ptr<PluginInstance> ManagedPlugin::NewInstance() {
  ServiceDeps deps;
  deps.clock = &env_.clock;
  deps.exchange = env_.exchange;
  deps.log = &log_;
  deps.metrics = &metrics_;
  deps.role = env_.role;
  deps.host_version = env_.host_version;
  deps.manifest = manifest_;
  return std::make_shared<PluginInstance>(
      *descriptor_, deps, PluginInstance::Options{config_.workers, config_.deadlines}, *this);
}

void ManagedPlugin::BringUp(const std::string& document) {
  document_ = document;
  if (state() != PluginState::kLoaded) return;
  if (config_.required) start_by_ = env_.clock.Now() + kRequiredPatience;
  Create();
  if (state() == PluginState::kCreated) Start();
}

void ManagedPlugin::Create() {
  auto instance = NewInstance();
  const Status status = instance->Create(document_, env_.stopping);
  if (instance->Lost()) {
    instance->Abandon();
    return Fail(status);
  }
  if (status.ok()) {
    instance_ = std::move(instance);
    start_attempts_ = 0;
    return SetState(PluginState::kCreated, "", "create returned OK");
  }
  // Shutdown came first: nothing was created, nothing is wrong.
  if (env_.stopping->cancelled()) return;
  if (status.code() == Code::kFailedPrecondition && status.reason() == kNotConfigured) {
    return SetState(PluginState::kDisabled, kNotConfigured, status.message());
  }
  Fail(status);
}

Duration ManagedPlugin::StartDelay(const Status& status) {
  if (status.retry_after_ms() > 0) return ClampRetryDelay(status.retry_after_ms());
  const std::uint32_t doublings = std::min<std::uint32_t>(start_attempts_ - 1, 10);
  const Duration delay =
      std::min<Duration>(kFirstStartDelay * (1u << doublings), kLongestStartDelay);
  // Up to a tenth more, so that replicas do not come at the same moment.
  return delay + std::chrono::duration_cast<Duration>(delay * 0.1 * env_.random.Uniform());
}

void ManagedPlugin::Start() {
  next_start_ = MonoTime::max();
  const Status status = instance_->Start(++start_attempts_, env_.stopping);
  if (status.ok()) {
    start_by_ = MonoTime::max();
    return SetState(PluginState::kStarted, "", "start returned OK");
  }
  if (instance_->Lost()) {
    instance_->Abandon();
    return Fail(status);
  }
  if (env_.stopping->cancelled()) return;  // Shutdown comes next
  if (status.code() == Code::kUnavailable) {
    const Duration delay = StartDelay(status);
    next_start_ = env_.clock.Now() + delay;
    return SetState(
        PluginState::kCreated, status.reason(),
        status.message() + " (start is tried again in " +
            std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(delay).count()) +
            " ms)");
  }
  instance_->Shutdown();
  Fail(status);
}

void ManagedPlugin::Tick() {
  if (state() == PluginState::kCreated && env_.clock.Now() >= next_start_) Start();
  if (TakesCalls(state())) CheckHealth();
}

MonoTime ManagedPlugin::NextDue() const {
  const std::lock_guard lock(mutex_);
  if (snapshot_.state == PluginState::kCreated) return next_start_;
  if (!TakesCalls(snapshot_.state)) return MonoTime::max();
  if (look_) return MonoTime::min();
  if (snapshot_.state == PluginState::kDegraded && !reconfigure_refused_) {
    return last_trouble_ + HealthWindow::kWindow;
  }
  return MonoTime::max();
}

void ManagedPlugin::CheckHealth() {
  const MonoTime now = env_.clock.Now();
  std::uint32_t overruns = 0;
  bool new_overrun = false, unhealthy = false, clean = false;
  {
    const std::lock_guard lock(mutex_);
    look_ = false;
    overruns = snapshot_.overruns;
    new_overrun = overruns != std::exchange(overruns_seen_, overruns);
    unhealthy = window_.Unhealthy(now);
    clean = now - last_trouble_ >= HealthWindow::kWindow;
  }
  const PluginState current = state();
  if (overruns > kMaxOverruns) {
    instance_->Abandon();
    return Fail(Status(Code::kUnknown, kCallOverrun,
                       std::to_string(overruns) + " calls did not return; allowed are 4"));
  }
  if (new_overrun) {
    return SetState(PluginState::kDegraded, kCallOverrun,
                    std::to_string(overruns) + " of at most 4 calls did not return");
  }
  if (unhealthy && current == PluginState::kStarted) {
    return SetState(PluginState::kDegraded, "PluginBugs",
                    "more than half of the calls of the last 5 min ended as bugs of the plugin");
  }
  if (current == PluginState::kDegraded && clean && !reconfigure_refused_) {
    SetState(PluginState::kStarted, "", "5 min without trouble");
  }
}

void ManagedPlugin::SetPendingChange(const std::string& pending) {
  const std::lock_guard lock(mutex_);
  snapshot_.pending_change = pending;
}

void ManagedPlugin::Apply(const PluginConfig& config, const std::string& document,
                          const std::string& pending) {
  SetPendingChange(pending);
  const bool changed = document != document_ || config.defaults != config_.defaults;
  document_ = document;
  config_.defaults = config.defaults;
  config_.settings_json = config.settings_json;
  const PluginState now = state();
  if (now == PluginState::kDisabled && !disabled_by_config_) {
    // NotConfigured: any change may be the one that was missing.
    Create();
    if (state() == PluginState::kCreated) Start();
    return;
  }
  if (!changed) return;
  if (now != PluginState::kCreated && !TakesCalls(now)) return;
  if (instance_->CanReconfigure()) {
    Reconfigure();
  } else {
    Recreate();
  }
}

void ManagedPlugin::Reconfigure() {
  const Status status = instance_->Reconfigure(document_, env_.stopping);
  if (instance_->Lost()) {
    instance_->Abandon();
    return Fail(status);
  }
  if (env_.stopping->cancelled()) return;
  const PluginState now = state();
  if (now == PluginState::kCreated) {
    // Not running yet: with the new configuration start may work at once.
    if (status.ok()) return Start();
    return SetState(now, status.reason(), "reconfigure refused: " + status.message());
  }
  reconfigure_refused_ = !status.ok();
  if (status.ok()) {
    env_.log.Info("plugin reconfigured", {{"plugin", config_.id}});
    if (now == PluginState::kDegraded) CheckHealth();
    return;
  }
  SetState(PluginState::kDegraded, status.reason(),
           "the new configuration was refused and the old one stays: " + status.message());
}

// The new instance is created first: if it refuses, the old one goes on.
void ManagedPlugin::Recreate() {
  auto next = NewInstance();
  const Status status = next->Create(document_, env_.stopping);
  if (next->Lost()) next->Abandon();
  if (env_.stopping->cancelled()) {
    if (status.ok()) next->Shutdown();
    return;
  }
  const bool switched_off =
      status.code() == Code::kFailedPrecondition && status.reason() == kNotConfigured;
  if (!status.ok() && !switched_off) {
    reconfigure_refused_ = true;
    return SetState(
        state() == PluginState::kCreated ? PluginState::kCreated : PluginState::kDegraded,
        status.reason(),
        "the new configuration was refused and the old one stays: " + status.message());
  }
  reconfigure_refused_ = false;
  SetState(PluginState::kQuiescing, "", "recreate after a change of configuration");
  if (!std::exchange(instance_, nullptr)->Shutdown()) {
    if (status.ok()) next->Shutdown();
    return Fail(Status(Code::kUnknown, kCallOverrun,
                       "the instance with the old configuration did not quiesce in time"));
  }
  if (switched_off) return SetState(PluginState::kDisabled, kNotConfigured, status.message());
  SetState(PluginState::kStopped, "", "destroy returned");
  SetState(PluginState::kLoaded, "", "recreate after a change of configuration");
  instance_ = std::move(next);
  start_attempts_ = 0;
  SetState(PluginState::kCreated, "", "create returned OK");
  Start();
}

bool ManagedPlugin::Shutdown() {
  if (instance_ == nullptr) return true;
  SetState(PluginState::kQuiescing, "", "the process is stopping");
  const auto instance = std::exchange(instance_, nullptr);
  if (!instance->Shutdown()) {
    SetState(PluginState::kFailed, kCallOverrun,
             "not quiesced in time; the instance was abandoned");
    return false;
  }
  SetState(PluginState::kStopped, "", "destroy returned");
  return true;
}

PluginState ManagedPlugin::state() const {
  const std::lock_guard lock(mutex_);
  return snapshot_.state;
}

PluginSnapshot ManagedPlugin::Snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

std::shared_ptr<PluginInstance> ManagedPlugin::Running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

bool ManagedPlugin::Offers(std::string_view interface_id) const {
  return offered_.count(std::string(interface_id)) != 0;
}

void ManagedPlugin::OnCallEnd(const std::string& slot, const CallOutcome& outcome, Duration took,
                              bool worker_slot) {
  call_metrics_.Record(slot, outcome, took);
  const std::string& bug = outcome.plugin_bug;
  if (!worker_slot) return;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    ++snapshot_.calls;
    window_.Add(env_.clock.Now(), !bug.empty());
    if (!bug.empty()) {
      ++snapshot_.plugin_bugs;
      last_trouble_ = env_.clock.Now();
      wake = look_ = true;
    }
    if (bug == kCallOverrun) ++snapshot_.overruns;
  }
  if (wake) env_.wake();
}

}  // namespace otc::host::plugin_host
