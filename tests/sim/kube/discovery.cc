#include "tests/sim/kube/discovery.h"

#include <map>

#include "host/base/strings.h"
#include "tests/sim/kube/resources.h"

namespace otc::kubesim {
namespace {

Json VersionDocument(const std::string& version) {
  const std::vector<std::string> parts = host::Split(version, '.');
  return {{"major", parts[0].substr(parts[0].rfind('v', 0) == 0 ? 1 : 0)},
          {"minor", parts.size() > 1 ? parts[1] : ""},
          {"gitVersion", version},
          {"gitCommit", "kube-sim"},
          {"gitTreeState", "clean"},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", "none"},
          {"compiler", "none"},
          {"platform", "linux/amd64"}};
}

Json VerbsOf(const ResourceInfo& resource) {
  if (resource.review) {
    return {"create"};
  }
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

Json ResourceListOf(const std::string& group, const std::string& version) {
  Json resources = Json::array();
  for (const ResourceInfo& resource : AllResources()) {
    if (resource.group != group || resource.version != version) {
      continue;
    }
    Json entry = {{"name", resource.plural},
                  {"singularName", resource.singular},
                  {"namespaced", resource.namespaced},
                  {"kind", resource.kind},
                  {"verbs", VerbsOf(resource)}};
    if (!resource.short_names.empty()) {
      entry["shortNames"] = resource.short_names;
    }
    resources.push_back(std::move(entry));
    if (resource.has_status) {
      resources.push_back({{"name", resource.plural + "/status"},
                           {"singularName", ""},
                           {"namespaced", resource.namespaced},
                           {"kind", resource.kind},
                           {"verbs", {"get", "patch", "update"}}});
    }
    if (resource.kind == "ServiceAccount") {
      resources.push_back({{"name", "serviceaccounts/token"},
                           {"singularName", ""},
                           {"namespaced", true},
                           {"group", "authentication.k8s.io"},
                           {"version", "v1"},
                           {"kind", "TokenRequest"},
                           {"verbs", {"create"}}});
    }
  }
  if (resources.empty()) {
    return Json();
  }
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", group.empty() ? version : group + "/" + version},
          {"resources", std::move(resources)}};
}

Json GroupOf(const std::string& group, const std::string& version) {
  const Json entry = {{"groupVersion", group + "/" + version}, {"version", version}};
  return {{"name", group}, {"versions", {entry}}, {"preferredVersion", entry}};
}

// Each group is served in one version.
std::map<std::string, std::string> Groups() {
  std::map<std::string, std::string> groups;
  for (const ResourceInfo& resource : AllResources()) {
    if (!resource.group.empty()) {
      groups[resource.group] = resource.version;
    }
  }
  return groups;
}

Json GroupList() {
  Json groups = Json::array();
  for (const auto& [group, version] : Groups()) {
    groups.push_back(GroupOf(group, version));
  }
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

Json Document(const HttpRequest& request, const std::string& version,
              const std::string& server_address) {
  const std::string path = std::string(host::TrimSpace(request.path));
  if (path == "/version") {
    return VersionDocument(version);
  }
  if (path == "/api") {
    return {{"kind", "APIVersions"},
            {"versions", {"v1"}},
            {"serverAddressByClientCIDRs",
             {{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server_address}}}}};
  }
  if (path == "/apis") {
    return GroupList();
  }
  const std::vector<std::string> parts = host::Split(path, '/');
  if (parts.size() == 3 && parts[1] == "api") {
    return ResourceListOf("", parts[2]);
  }
  if (parts.size() == 4 && parts[1] == "apis") {
    return ResourceListOf(parts[2], parts[3]);
  }
  if (parts.size() == 3 && parts[1] == "apis") {
    const auto groups = Groups();
    const auto found = groups.find(parts[2]);
    if (found == groups.end()) {
      return Json();
    }
    Json group = GroupOf(found->first, found->second);
    group["kind"] = "APIGroup";
    group["apiVersion"] = "v1";
    return group;
  }
  return Json();
}

}  // namespace

std::optional<Reply> ServeDiscovery(const HttpRequest& request, const std::string& version,
                                    const std::string& server_address) {
  if (request.method != "GET" && request.method != "HEAD") {
    return std::nullopt;
  }
  for (const char* health : {"/healthz", "/livez", "/readyz"}) {
    if (request.path == health) {
      return Reply{200, "text/plain; charset=utf-8", "ok", 0};
    }
  }
  HttpRequest trimmed = request;
  while (trimmed.path.size() > 1 && trimmed.path.back() == '/') {
    trimmed.path.pop_back();
  }
  const Json document = Document(trimmed, version, server_address);
  if (document.is_null()) {
    return std::nullopt;
  }
  return Reply{200, "application/json", DumpJson(document), 0};
}

bool IsServedGroup(const std::string& path) {
  const std::vector<std::string> parts = host::Split(path, '/');
  const bool core = parts.size() > 2 && parts[1] == "api";
  const bool named = parts.size() > 3 && parts[1] == "apis";
  return (core && !ResourceListOf("", parts[2]).is_null()) ||
         (named && !ResourceListOf(parts[2], parts[3]).is_null());
}

}  // namespace otc::kubesim
