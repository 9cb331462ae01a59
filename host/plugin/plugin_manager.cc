#include "host/plugin/plugin_manager.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "host/base/strings.h"
#include "host/plugin/instances_adapter.h"
#include "host/plugin/interfaces.h"
#include "host/plugin/managed_plugin.h"

namespace otc::host::plugin_host {
namespace {

bool Runs(PluginState state) {
  return state == PluginState::kStarted || state == PluginState::kDegraded;
}

// Keys of an entry that differ and only count at the next start.
std::string StaticChanges(const PluginConfig& before, const PluginConfig& now) {
  std::vector<std::string> keys;
  const auto compare = [&keys](bool same, const char* key) {
    if (!same) keys.emplace_back(key);
  };
  compare(before.enabled == now.enabled, "enabled");
  compare(before.required == now.required, "required");
  compare(before.sha256 == now.sha256, "sha256");
  compare(before.interfaces == now.interfaces, "interfaces");
  compare(before.workers == now.workers, "workers");
  compare(before.endpoint == now.endpoint, "endpoint");
  compare(before.deadlines == now.deadlines, "deadlines");
  compare(before.exec_tools == now.exec_tools, "execTools");
  return Join(keys, ", ");
}

std::vector<PluginSnapshot> Unconfigured(const HostConfig& config) {
  std::vector<PluginSnapshot> out;
  for (const std::string& id : ListPluginIds(config.plugin_dir)) {
    if (config.Find(id) != nullptr) continue;
    PluginSnapshot snapshot;
    snapshot.id = id;
    snapshot.file = config.plugin_dir + "/" + id + ".so";
    snapshot.state = PluginState::kNotConfigured;
    snapshot.reason = "NotNamed";
    snapshot.message = "the file is in pluginDir, but host.yaml does not name it";
    out.push_back(std::move(snapshot));
  }
  return out;
}

}  // namespace

class PluginManager::Impl {
 public:
  Impl(PluginManagerOptions options, PluginManagerDeps deps)
      : options_(std::move(options)),
        environment_{deps.clock,
                     deps.log,
                     deps.metrics,
                     deps.random,
                     deps.exchange,
                     options_.role,
                     options_.host_version,
                     {options_.probe_command, LoadOptions{}.probe_timeout},
                     {},
                     Cancellation::Create(),
                     [this] { Wake(); }} {
    for (const PluginConfig& config : options_.config.plugins) {
      plugins_.push_back(std::make_unique<ManagedPlugin>(config, environment_));
    }
  }

  ~Impl() { Stop(); }

  void Start() {
    VerifyOptions verify;
    verify.plugin_dir = options_.config.plugin_dir;
    verify.services = OfferedServices(options_.role, environment_.exchange != nullptr);
    verify.allow_debug_plugins = options_.allow_debug_plugins;
    std::map<std::string, std::string> taken;
    for (const auto& plugin : plugins_) {
      plugin->Discover(options_.config);
      plugin->Verify(verify);
      plugin->Load(&taken);
      if (instances_ == nullptr && plugin->Offers(kInstancesId)) {
        instances_ = std::make_unique<InstancesAdapter>(*plugin, environment_.clock,
                                                        environment_.log, environment_.metrics,
                                                        [this] { return ClusterNow(); });
      }
    }
    control_ = std::thread([this] { Control(); });
  }

  void Reload(HostConfig config, ConfigInputs inputs) {
    const std::lock_guard lock(mutex_);
    reload_ = Request{std::move(config), std::move(inputs)};
    changed_.notify_all();
  }

  std::vector<std::string> Stop() {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return abandoned_;
      stopping_ = true;
      changed_.notify_all();
    }
    environment_.stopping->Cancel(kQuiescing, "the process is stopping");
    if (control_.joinable()) control_.join();
    for (auto it = plugins_.rbegin(); it != plugins_.rend(); ++it) {
      if (!(*it)->Shutdown()) abandoned_.push_back((*it)->id());
    }
    return abandoned_;
  }

  std::vector<PluginSnapshot> Snapshot() const {
    std::vector<PluginSnapshot> out;
    for (const auto& plugin : plugins_) out.push_back(plugin->Snapshot());
    return out;
  }

  std::vector<PluginSnapshot> SnapshotWithUnconfigured() const {
    std::vector<PluginSnapshot> out = Snapshot();
    for (PluginSnapshot& file : Unconfigured(options_.config)) out.push_back(std::move(file));
    return out;
  }

  Status Ready() const {
    for (const auto& plugin : plugins_) {
      const PluginSnapshot now = plugin->Snapshot();
      if (!now.required || Runs(now.state) || plugin->DisabledByConfig()) continue;
      return Status(Code::kUnavailable, "PluginNotStarted",
                    "required plugin " + now.id + " is " + PluginStateName(now.state) +
                        (now.reason.empty() ? "" : ": " + now.reason + ": " + now.message));
    }
    return Status::Ok();
  }

  InstancesProvider* Instances() { return instances_.get(); }

  bool AwaitIdle(std::chrono::milliseconds timeout) const {
    std::unique_lock lock(mutex_);
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (!idle_ || wake_ || reload_ || due_ <= environment_.clock.Now()) {
      if (std::chrono::steady_clock::now() >= until) return false;
      changed_.wait_for(lock, std::chrono::milliseconds(5));
    }
    return true;
  }

 private:
  struct Request {
    HostConfig config;
    ConfigInputs inputs;
  };

  void Wake() {
    const std::lock_guard lock(mutex_);
    wake_ = true;
    changed_.notify_all();
  }

  ClusterInfo ClusterNow() const {
    const std::lock_guard lock(mutex_);
    return options_.inputs.cluster;
  }

  std::string Document(const PluginConfig& config, const ConfigInputs& inputs) const {
    return ConfigDocument(config.settings_json, inputs.cloud, inputs.cluster, options_.role);
  }

  // The control thread.
  void Control() {
    for (const auto& plugin : plugins_) {
      if (environment_.stopping->cancelled()) return;
      plugin->BringUp(Document(plugin->config(), options_.inputs));
      CheckRequired();
    }
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      wake_ = false;
      std::optional<Request> request = std::exchange(reload_, std::nullopt);
      lock.unlock();
      if (request) Apply(std::move(*request));
      for (const auto& plugin : plugins_) plugin->Tick();
      CheckRequired();
      lock.lock();
      AwaitWork(lock);
    }
  }

  // Until something is asked for or due. `lock` holds mutex_.
  void AwaitWork(std::unique_lock<std::mutex>& lock) {
    for (;;) {
      due_ = NextDue();
      if (stopping_ || wake_ || reload_ || environment_.clock.Now() >= due_) break;
      idle_ = true;
      changed_.notify_all();
      environment_.clock.WaitUntil(changed_, lock, due_);
    }
    idle_ = false;
  }

  MonoTime NextDue() const {
    MonoTime due = MonoTime::max();
    for (const auto& plugin : plugins_) {
      due = std::min(due, plugin->NextDue());
      if (!fatal_reported_) due = std::min(due, plugin->StartBy());
    }
    return due;
  }

  void Apply(Request request) {
    ReportIgnored(request.config);
    for (const auto& plugin : plugins_) {
      if (environment_.stopping->cancelled()) return;
      const PluginConfig* config = request.config.Find(plugin->id());
      if (config == nullptr) {
        plugin->SetPendingChange("removed from host.yaml");
        continue;
      }
      const PluginConfig* before = options_.config.Find(plugin->id());
      plugin->Apply(*config, Document(*config, request.inputs), StaticChanges(*before, *config));
    }
    const std::lock_guard lock(mutex_);
    options_.inputs = std::move(request.inputs);
  }

  // Changes of the file as a whole that this process does not follow.
  void ReportIgnored(const HostConfig& now) {
    std::vector<std::string> keys;
    const HostConfig& before = options_.config;
    if (now.plugin_dir != before.plugin_dir) keys.emplace_back("pluginDir");
    if (now.disable != before.disable) keys.emplace_back("disable");
    if (now.role && *now.role != options_.role) keys.emplace_back("role");
    for (const PluginConfig& plugin : now.plugins) {
      if (before.Find(plugin.id) == nullptr) keys.push_back("plugin " + plugin.id);
    }
    if (keys.empty()) return;
    environment_.log.Warn("changes of host.yaml take effect at the next start of the process",
                          {{"changes", Join(keys, ", ")}});
  }

  void CheckRequired() {
    if (fatal_reported_) return;
    for (const auto& plugin : plugins_) {
      if (!plugin->config().required) continue;
      const PluginSnapshot now = plugin->Snapshot();
      if (now.state == PluginState::kFailed) return Fatal(now, "failed");
      if (environment_.clock.Now() >= plugin->StartBy()) {
        return Fatal(now, "was not started within 60 s");
      }
    }
  }

  void Fatal(const PluginSnapshot& plugin, const std::string& what) {
    fatal_reported_ = true;
    const Status status(
        Code::kFailedPrecondition, "RequiredPluginFailed",
        "required plugin " + plugin.id + " " + what + " (" + PluginStateName(plugin.state) +
            (plugin.reason.empty() ? "" : ", " + plugin.reason) + "): " + plugin.message);
    environment_.log.Error("a required plugin does not run", {{"status", status}});
    if (options_.callbacks.on_fatal) options_.callbacks.on_fatal(status);
  }

  PluginManagerOptions options_;
  PluginEnvironment environment_;
  std::vector<std::unique_ptr<ManagedPlugin>> plugins_;  // fixed after construction
  std::unique_ptr<InstancesAdapter> instances_;          // fixed after Start
  std::vector<std::string> abandoned_;
  std::thread control_;
  bool fatal_reported_ = false;  // control thread only

  mutable std::mutex mutex_;  // guards all below, and options_.inputs
  mutable std::condition_variable changed_;
  std::optional<Request> reload_;
  bool wake_ = false;
  bool stopping_ = false;
  bool idle_ = false;
  MonoTime due_ = MonoTime::max();  // the next step, as the control thread saw it last
};

PluginManager::PluginManager(PluginManagerOptions options, PluginManagerDeps deps)
    : impl_(std::make_unique<Impl>(std::move(options), deps)) {}
PluginManager::~PluginManager() = default;
void PluginManager::Start() { impl_->Start(); }
void PluginManager::Reload(HostConfig config, ConfigInputs inputs) {
  impl_->Reload(std::move(config), std::move(inputs));
}
std::vector<std::string> PluginManager::Stop() { return impl_->Stop(); }
std::vector<PluginSnapshot> PluginManager::Snapshot() const { return impl_->Snapshot(); }
std::vector<PluginSnapshot> PluginManager::SnapshotWithUnconfigured() const {
  return impl_->SnapshotWithUnconfigured();
}
Status PluginManager::Ready() const { return impl_->Ready(); }
InstancesProvider* PluginManager::Instances() { return impl_->Instances(); }
bool PluginManager::AwaitIdle(std::chrono::milliseconds timeout) const {
  return impl_->AwaitIdle(timeout);
}

std::vector<PluginSnapshot> InspectPlugins(const HostConfig& config, Role role,
                                           bool allow_debug_plugins) {
  // The life cycle's own steps, with a log and metrics that nobody reads.
  SystemClock clock;
  MemoryLog log;
  Metrics metrics;
  FixedRandom random;
  PluginEnvironment environment{clock, log, metrics, random,  nullptr, role,
                                "",    {},  {},      nullptr, {}};
  // A host has the cloud service in every role; csi-node for metadata only.
  const VerifyOptions verify{config.plugin_dir, OfferedServices(role, true), allow_debug_plugins};
  std::vector<PluginSnapshot> out;
  for (const PluginConfig& entry : config.plugins) {
    ManagedPlugin plugin(entry, environment);
    plugin.Discover(config);
    plugin.Verify(verify);
    out.push_back(plugin.Snapshot());
  }
  for (PluginSnapshot& file : Unconfigured(config)) out.push_back(std::move(file));
  return out;
}

}  // namespace otc::host::plugin_host
