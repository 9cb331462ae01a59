// ManagedPlugin: the life cycle of one plugin of host.yaml
// (docs/reference/plugin-abi.md §12): its state, why it is in it, what is due
// next, and its running instance.
//
// Every step is made by the manager's control thread. Snapshot, Running and
// OnCallEnd may be called by any thread. A failure becomes a state with reason
// and message, never more: other plugins do not notice.
#ifndef OTC_HOST_PLUGIN_MANAGED_PLUGIN_H_
#define OTC_HOST_PLUGIN_MANAGED_PLUGIN_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "host/base/random.h"
#include "host/plugin/call_metrics.h"
#include "host/plugin/health_window.h"
#include "host/plugin/host_config.h"
#include "host/plugin/instance.h"
#include "host/plugin/loader.h"
#include "host/plugin/plugin_log.h"
#include "host/plugin/plugin_metrics.h"
#include "host/plugin/snapshot.h"

namespace otc::host::plugin_host {

// What all plugins of a manager share; outlives them.
struct PluginEnvironment {
  Clock& clock;
  Log& log;
  Metrics& metrics;
  Random& random;
  cloud::CloudExchange* exchange;
  Role role;
  std::string host_version;
  LoadOptions load;
  MetricNames metric_names;
  std::shared_ptr<Cancellation> stopping;  // raised by Stop
  std::function<void()> wake;              // the control thread has something to look at
};

class ManagedPlugin final : public CallObserver {
 public:
  static constexpr std::uint32_t kMaxOverruns = 4;

  ManagedPlugin(PluginConfig config, PluginEnvironment& environment);

  // Control thread, in this order. Each does nothing unless the state fits.
  void Discover(const HostConfig& config);
  void Verify(const VerifyOptions& options);
  // `taken`: exclusive interfaces that earlier plugins hold; gets this one's.
  void Load(std::map<std::string, std::string>* taken);
  // The first create and start, with this document.
  void BringUp(const std::string& document);
  // What is due by now: a retry of start, or another look at the health.
  void Tick();
  MonoTime NextDue() const;
  // Until when a required plugin must have been started for the first time.
  MonoTime StartBy() const { return start_by_; }
  // A new configuration: `pending` names what waits for a restart. Reconfigures,
  // recreates, or tries create again, as the state asks for.
  void Apply(const PluginConfig& config, const std::string& document, const std::string& pending);
  void SetPendingChange(const std::string& pending);
  // Quiesces and destroys. False: abandoned.
  bool Shutdown();

  const PluginConfig& config() const { return config_; }
  const std::string& id() const { return config_.id; }
  bool DisabledByConfig() const { return disabled_by_config_; }

  // Any thread.
  PluginState state() const;
  PluginSnapshot Snapshot() const;
  // The instance that takes calls now; null while there is none.
  std::shared_ptr<PluginInstance> Running() const;
  // Loaded, and the interface is not filtered out. Fixed once Load returned.
  bool Offers(std::string_view interface_id) const;
  const otc_plugin* descriptor() const { return descriptor_; }
  void OnCallEnd(const std::string& slot, const CallOutcome& outcome, Duration took,
                 bool worker_slot) override;

 private:
  void SetState(PluginState state, const std::string& reason, const std::string& message);
  void Fail(const Status& why);
  void ShowManifest(const VerifiedPlugin& plugin);
  std::shared_ptr<PluginInstance> NewInstance();
  bool InUse(const std::string& interface_id) const;

  // Steps; each ends in a state.
  void Create();
  void Start();
  void Recreate();
  void Reconfigure();
  void CheckHealth();
  Duration StartDelay(const Status& status);

  PluginConfig config_;
  PluginEnvironment& env_;
  PluginLog log_;
  PluginMetrics metrics_;
  CallMetrics call_metrics_;

  // Control thread only.
  bool disabled_by_config_ = false;
  std::optional<VerifiedPlugin> verified_;
  std::shared_ptr<const inspect::Manifest> manifest_;
  const otc_plugin* descriptor_ = nullptr;
  std::shared_ptr<PluginInstance> instance_;  // created; started or not
  std::string document_;                      // wanted
  std::uint32_t start_attempts_ = 0;
  MonoTime next_start_ = MonoTime::max();
  bool reconfigure_refused_ = false;
  MonoTime start_by_ = MonoTime::max();
  std::set<std::string> offered_;  // interfaces in use

  mutable std::mutex mutex_;  // guards all below
  PluginSnapshot snapshot_;
  std::shared_ptr<PluginInstance> running_;
  HealthWindow window_;
  MonoTime last_trouble_{};
  std::uint32_t overruns_seen_ = 0;  // by CheckHealth
  bool look_ = false;                // OnCallEnd saw something
};

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_MANAGED_PLUGIN_H_
