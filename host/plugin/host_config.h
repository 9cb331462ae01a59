// HostConfig: host.yaml, the file that says which plugins run and how.
//
// The format is docs/reference/host-yaml.md. Parsing is strict: an unknown or
// repeated key, an anchor, an alias, a second document or a value of the wrong
// kind is an error, and all errors of a file are reported at once, each as
// "file:line:column: what is wrong, what is allowed". Plain values; any thread.
#ifndef OTC_HOST_PLUGIN_HOST_CONFIG_H_
#define OTC_HOST_PLUGIN_HOST_CONFIG_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/clock.h"
#include "host/plugin/role.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::plugin_host {

// One entry of `plugins`.
struct PluginConfig {
  std::string id;
  bool enabled = true;
  bool required = false;
  std::string sha256;                         // lower-case hex; empty: no pin
  std::vector<std::string> interfaces;        // empty: all that it provides
  int workers = 8;                            // parallel worker slots, 1..64
  std::string endpoint;                       // unix:///path, for gRPC interfaces
  std::map<std::string, Duration> deadlines;  // by slot name
  std::map<std::string, std::string> exec_tools;
  std::map<std::string, std::string> defaults;
  std::string settings_json = "{}";  // `settings` as one JSON object

  friend bool operator==(const PluginConfig&, const PluginConfig&) = default;
};

struct HostConfig {
  std::optional<Role> role;  // empty: not in the file, the command line decides
  std::string plugin_dir = "/usr/lib/otc/plugins";
  std::vector<std::string> disable;   // globs with * and ?; win over `enabled`
  std::vector<PluginConfig> plugins;  // in order of start

  // Null if no plugin has this id.
  const PluginConfig* Find(std::string_view id) const;
  // The glob of `disable` that matches `id`; null: none.
  const std::string* DisabledBy(std::string_view id) const;

  friend bool operator==(const HostConfig&, const HostConfig&) = default;
};

// Parses `text`. INVALID_ARGUMENT with reason "InvalidHostYaml" and one error a
// line in the message; `file` is the name that the errors show.
Result<HostConfig> ParseHostConfig(std::string_view text, const std::string& file);

// Reads and parses a file of at most 1 MiB. NOT_FOUND (reason "FileMissing") if
// there is none.
Result<HostConfig> ReadHostConfig(const std::string& path);

// What holds without a file: the node plugin, required, in the roles
// `controllers` and `all` (without it the process would have nothing to do and
// nobody would notice); no plugin in the csi roles.
HostConfig DefaultHostConfig(Role role);

// `[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?`
bool IsValidPluginId(std::string_view id);

// Whether `text` matches a glob of `*` (any run) and `?` (one character).
bool GlobMatches(std::string_view glob, std::string_view text);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_HOST_CONFIG_H_
