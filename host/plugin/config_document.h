// The `config` document: the one JSON object that a plugin is given by `create`
// and `reconfigure` (docs/reference/plugin-abi.md §10). Never holds a secret:
// CloudView is cloud.conf without [Global] credentials. Pure functions.
#ifndef OTC_HOST_PLUGIN_CONFIG_DOCUMENT_H_
#define OTC_HOST_PLUGIN_CONFIG_DOCUMENT_H_

#include <map>
#include <optional>
#include <string>

#include "host/plugin/role.h"

namespace otc::host::plugin_host {

// What plugins may know of cloud.conf.
struct CloudView {
  std::string region;
  std::string project_name;
  // cloud.conf without [Global]: section → key → value, as written.
  std::map<std::string, std::map<std::string, std::string>> sections;

  friend bool operator==(const CloudView&, const CloudView&) = default;
};

struct ClusterInfo {
  std::string name;
  std::string uid;  // UID of namespace kube-system

  friend bool operator==(const ClusterInfo&, const ClusterInfo&) = default;
};

// `cloud` is left out in role csi-node even if given: no credentials, no cloud.
std::string ConfigDocument(const std::string& settings_json, const std::optional<CloudView>& cloud,
                           const ClusterInfo& cluster, Role role);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_CONFIG_DOCUMENT_H_
