// The fail-closed loading list of docs/reference/plugin-abi.md §11, in its order:
// VerifyPlugin runs none of the plugin's code (1 to 6), LoadPlugin does (7 to
// 10). One plugin at a time; the caller keeps exclusivity between plugins.
//
// Failure: a Status with reason "Refused" (every violation in its message) that
// is final until the process restarts.
#ifndef OTC_HOST_PLUGIN_LOADER_H_
#define OTC_HOST_PLUGIN_LOADER_H_

#include <string>
#include <vector>

#include "host/base/clock.h"
#include "host/plugin/host_config.h"
#include "host/plugin/plugin_file.h"
#include "otc/plugin.h"
#include "sdk/inspect/manifest.h"
#include "sdk/inspect/rules.h"

namespace otc::host::plugin_host {

struct VerifiedPlugin {
  PluginFile file;  // its bytes are dropped after verification
  std::string sha256;
  inspect::Manifest manifest;
};

struct VerifyOptions {
  std::string plugin_dir;
  inspect::ServiceSizes services;  // offered in this role
  bool allow_debug_plugins = false;
};

// Steps 1 to 6, and that `interfaces` and `required` of host.yaml fit the
// manifest. `partial` (may be null) gets what could be read even on refusal, so
// that a list can show the version of a refused file.
Result<VerifiedPlugin> VerifyPlugin(const PluginConfig& config, const VerifyOptions& options,
                                    VerifiedPlugin* partial);

struct LoadOptions {
  std::vector<std::string> probe_command;
  Duration probe_timeout = std::chrono::seconds(10);
};

// Steps 7 (file not yet loaded) to 10. The descriptor is static data of the
// plugin: it lives as long as the process.
Result<const otc_plugin*> LoadPlugin(const VerifiedPlugin& plugin, const LoadOptions& options,
                                     Clock& clock);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_LOADER_H_
