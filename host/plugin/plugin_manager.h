// PluginManager: finds, verifies, loads, starts, watches and stops the plugins
// that host.yaml names, and hands their interfaces to the host.
//
// Use by main:
//   PluginManager plugins(std::move(options), {clock, log, metrics, random, &exchange});
//   plugins.Start();                       // verified and loaded when it returns
//   if (auto* instances = plugins.Instances()) …start the node controllers…
//   …
//   plugins.Reload(new_config, inputs);    // SIGHUP, changed host.yaml or cloud.conf
//   const auto abandoned = plugins.Stop();  // then _exit, not exit, if any is named
//
// One control thread of its own makes every life-cycle step, in the order of
// host.yaml (stop: reverse); a plugin's slots run on threads of the plugin, so
// one that hangs, fails or is slow never stops another. All public functions
// are thread-safe except Start and Stop (main only, once each).
//
// Failure: each plugin's state, reason and message (Snapshot); a `required` one
// that is not started within 60 s of Start, or fails later, is reported once
// through Callbacks::on_fatal: the process is expected to exit with code 3.
//
// Clock, Log, Metrics, Random and CloudExchange must outlive the manager; if
// Stop names an abandoned plugin its threads may still use them, so the process
// must then end by _exit.
#ifndef OTC_HOST_PLUGIN_PLUGIN_MANAGER_H_
#define OTC_HOST_PLUGIN_PLUGIN_MANAGER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/random.h"
#include "host/cloud/exchange.h"
#include "host/controllers/instances.h"
#include "host/plugin/config_document.h"
#include "host/plugin/host_config.h"
#include "host/plugin/role.h"
#include "host/plugin/snapshot.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::plugin_host {

// What the plugins' `config` documents are made of, besides `settings`.
struct ConfigInputs {
  std::optional<CloudView> cloud;  // empty: no cloud.conf (role csi-node)
  ClusterInfo cluster;
};

struct Callbacks {
  // A required plugin cannot run: "plugin node failed: …". Called at most once,
  // on the control thread; must not call into the manager.
  std::function<void(const Status&)> on_fatal;
};

struct PluginManagerOptions {
  HostConfig config;
  Role role = Role::kControllers;
  ConfigInputs inputs;
  std::string host_version;          // for the plugins' logs
  bool allow_debug_plugins = false;  // --allow-debug-plugins
  // What runs `probe`: program and leading arguments; ProbeMain (probe.h) must
  // be called with the rest. Main: {"/proc/self/exe", "probe"}.
  std::vector<std::string> probe_command = {"/proc/self/exe", "probe"};
  Callbacks callbacks;
};

struct PluginManagerDeps {
  Clock& clock;
  Log& log;
  Metrics& metrics;
  Random& random;
  cloud::CloudExchange* exchange = nullptr;  // null: otc.host.cloud/1 is not offered
};

class PluginManager {
 public:
  PluginManager(PluginManagerOptions options, PluginManagerDeps deps);
  ~PluginManager();  // stops if Stop was not called
  PluginManager(const PluginManager&) = delete;
  PluginManager& operator=(const PluginManager&) = delete;

  // Verifies, probes and loads every enabled plugin (blocks for that long: at
  // most about 10 s for each plugin that hangs while it is probed), then starts
  // them in the background.
  void Start();

  // Applies changed `settings`, `defaults` and inputs to the running plugins,
  // and tries `create` again where a plugin said NotConfigured. Returns at
  // once; the outcome is in Snapshot and in the log. Every other change waits
  // for the next start of the process and is shown as pending_change.
  void Reload(HostConfig config, ConfigInputs inputs);

  // Cancels running calls, quiesces and destroys in reverse order; bounded by
  // the plugins' quiesce deadlines. Returns the ids of abandoned plugins.
  std::vector<std::string> Stop();

  // In order of host.yaml.
  std::vector<PluginSnapshot> Snapshot() const;
  // Snapshot, and the files of the directory that host.yaml does not name.
  std::vector<PluginSnapshot> SnapshotWithUnconfigured() const;

  // OK once every required plugin has started; else UNAVAILABLE with reason
  // "PluginNotStarted" and which, why. For /readyz.
  Status Ready() const;

  // The node plugin; null if no loaded plugin offers otc.instances-v2/1. Valid
  // as long as the manager; calls before its start or after its end return
  // UNAVAILABLE with reason NotStarted.
  InstancesProvider* Instances();

  // Blocks until every step that is due was made (first start, a reload, a
  // retry whose time has come) or `timeout` of real time has passed; false
  // then. For tests and the demo.
  bool AwaitIdle(std::chrono::milliseconds timeout) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The state of every configured plugin as far as it can be known without
// running any of its code (§11.1–6), and the unnamed files: `otc-host plugins`
// without a running host.
std::vector<PluginSnapshot> InspectPlugins(const HostConfig& config, Role role,
                                           bool allow_debug_plugins);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_PLUGIN_MANAGER_H_
