// Settings: flags, host.yaml and cloud.conf put together, at start and at each
// reload. Plain data; the functions read files and nothing else.
#ifndef OTC_HOST_CLI_SETTINGS_H_
#define OTC_HOST_CLI_SETTINGS_H_

#include <optional>
#include <string>
#include <vector>

#include "host/cli/host_flags.h"
#include "host/cloud/cloud_config.h"
#include "host/controllers/controller_set.h"
#include "host/election/election_options.h"
#include "host/plugin/plugin_manager.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::cli {

struct Settings {
  plugin_host::Role role = plugin_host::Role::kControllers;
  plugin_host::HostConfig host;
  std::optional<cloud::CloudConfig> cloud;  // empty in role csi-node
  std::string cluster_name;                 // cloud.conf's, else the flag's
};

// Which of the two precedes the other: --role, host.yaml's `role`, controllers.
// INVALID_ARGUMENT with every error of both files, one a line.
Result<Settings> LoadSettings(const HostFlags& flags);

// What plugins get to know; never a credential.
plugin_host::ConfigInputs InputsFor(const Settings& settings, const std::string& cluster_uid);

// Flags as the options of the parts. INVALID_ARGUMENT with all errors at once.
struct ControllerFlags {
  ControllerSetOptions controllers;
  ElectionOptions election;
};
Result<ControllerFlags> ControllerOptionsFrom(const HostFlags& flags);

}  // namespace otc::host::cli

#endif  // OTC_HOST_CLI_SETTINGS_H_
