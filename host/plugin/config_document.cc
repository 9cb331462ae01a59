#include "host/plugin/config_document.h"

#include <vector>

#include "host/base/strings.h"

namespace otc::host::plugin_host {
namespace {

std::string TextMap(const std::map<std::string, std::string>& map) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : map) parts.push_back(JsonQuote(key) + ":" + JsonQuote(value));
  return "{" + Join(parts, ",") + "}";
}

std::string CloudObject(const CloudView& cloud) {
  std::vector<std::string> sections;
  for (const auto& [name, keys] : cloud.sections) {
    // [Global] holds credentials; it has no business here whatever a caller does.
    if (EqualsIgnoreCase(name, "Global")) continue;
    sections.push_back(JsonQuote(name) + ":" + TextMap(keys));
  }
  return "{\"region\":" + JsonQuote(cloud.region) +
         ",\"projectName\":" + JsonQuote(cloud.project_name) + ",\"sections\":{" +
         Join(sections, ",") + "}}";
}

}  // namespace

std::string ConfigDocument(const std::string& settings_json, const std::optional<CloudView>& cloud,
                           const ClusterInfo& cluster, Role role) {
  std::string out = "{\"settings\":" + settings_json;
  if (cloud && role != Role::kCsiNode) out += ",\"cloud\":" + CloudObject(*cloud);
  out += ",\"cluster\":{\"name\":" + JsonQuote(cluster.name) +
         ",\"uid\":" + JsonQuote(cluster.uid) + "}";
  return out + ",\"role\":" + JsonQuote(RoleName(role)) + "}";
}

}  // namespace otc::host::plugin_host
