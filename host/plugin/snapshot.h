// PluginSnapshot: what an operator may know about one plugin at one moment.
//
// `otc-host plugins`, `/plugins` and tests read these; they are copies, so they
// never change under the reader. Rendering is a pure function.
#ifndef OTC_HOST_PLUGIN_SNAPSHOT_H_
#define OTC_HOST_PLUGIN_SNAPSHOT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace otc::host::plugin_host {

// The life cycle of docs/reference/plugin-abi.md §12, and kNotConfigured for a
// file in the plugin directory that host.yaml does not name.
enum class PluginState {
  kDiscovered,
  kVerified,
  kLoaded,
  kCreated,
  kStarted,
  kDegraded,
  kQuiescing,
  kStopped,
  kDisabled,
  kFailed,
  kNotConfigured,
};

// "discovered", …, "not configured".
const char* PluginStateName(PluginState state);
// Every state that otc_plugin_state{plugin,state} has a series for.
const std::vector<PluginState>& LifeCycleStates();

struct InterfaceSnapshot {
  std::string id;
  bool known = false;   // this host serves it
  bool in_use = false;  // known, and not filtered out by host.yaml
};

struct PluginSnapshot {
  std::string id;
  std::string file;  // path
  PluginState state = PluginState::kDiscovered;
  std::string reason;   // CamelCase word; empty while all is well
  std::string message;  // one line for a human
  std::int64_t since_unix_ms = 0;

  // From the manifest; empty until it was read.
  std::string version;
  std::string abi;
  std::string build;
  std::string sha256;
  std::vector<InterfaceSnapshot> interfaces;

  bool required = false;
  std::uint32_t overruns = 0;     // slots that did not come back in time
  std::uint64_t calls = 0;        // worker slots called, of all instances
  std::uint64_t plugin_bugs = 0;  // of those, ended as a bug of the plugin
  std::string pending_change;     // configuration that waits for a restart
};

// A table for a terminal: NAME VERSION INTERFACES STATE REASON. Control
// characters in texts are shown as '?'.
std::string RenderPluginTable(const std::vector<PluginSnapshot>& plugins);
// {"plugins":[{…}]}, the body of /plugins and of `otc-host plugins -o json`.
std::string RenderPluginJson(const std::vector<PluginSnapshot>& plugins);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_SNAPSHOT_H_
