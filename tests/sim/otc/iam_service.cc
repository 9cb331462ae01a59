// IAM: version discovery, projects, domains, catalog (iam.md section 3).
#include <algorithm>

#include "host/base/strings.h"
#include "tests/sim/otc/errors.h"
#include "tests/sim/otc/iam_render.h"
#include "tests/sim/otc/server_filter.h"
#include "tests/sim/otc/services.h"

namespace otc::sim {
namespace {

void RenderVersion(const Cloud& cloud, JsonWriter* json) {
  json->BeginObject().Field("id", "v3.6").Field("status", "stable");
  json->Field("updated", "2016-04-04T00:00:00Z").Key("links").BeginArray().BeginObject();
  json->Field("rel", "self").Field("href", cloud.url("iam") + "/v3/");
  json->EndObject().EndArray().Key("media-types").BeginArray().BeginObject();
  json->Field("base", "application/json");
  json->Field("type", "application/vnd.openstack.identity-v3+json");
  json->EndObject().EndArray().EndObject();
}

Response Versions(const Cloud& cloud) {
  JsonWriter json;
  json.BeginObject().Key("versions").BeginObject().Key("values").BeginArray();
  RenderVersion(cloud, &json);
  json.EndArray().EndObject().EndObject();
  return Response::Json(300, json.Take());
}

Response Version(const Cloud& cloud) {
  JsonWriter json;
  json.BeginObject().Key("version");
  RenderVersion(cloud, &json);
  json.EndObject();
  return Response::Json(200, json.Take());
}

void RenderProject(const Cloud& cloud, const Project& project, JsonWriter* json) {
  json->BeginObject().Field("id", project.id).Field("name", project.name);
  json->Field("domain_id", project.domain_id).Field("parent_id", project.domain_id);
  json->Field("enabled", project.enabled).Field("is_domain", false).Field("description", "");
  json->Key("links").BeginObject();
  json->Field("self", cloud.url("iam") + "/v3/projects/" + project.id).EndObject().EndObject();
}

void RenderLinks(const std::string& self, const std::string& next, JsonWriter* json) {
  json->Key("links").BeginObject().Field("self", self).Field("previous", nullptr);
  if (next.empty()) {
    json->Field("next", nullptr);
  } else {
    json->Field("next", next);
  }
  json->EndObject();
}

bool ProjectPasses(const Project& project, const Call& call) {
  if (project.domain_id != call.principal.domain_id) return false;
  if (const auto name = call.request.Query("name")) {
    const bool by_prefix = call.behaviour.Defect("projects-by-prefix");
    if (by_prefix ? project.name.rfind(*name, 0) != 0 : project.name != *name) return false;
  }
  const auto domain = call.request.Query("domain_id");
  const auto parent = call.request.Query("parent_id");
  const auto enabled = call.request.Query("enabled");
  const auto is_domain = call.request.Query("is_domain");
  return (!domain || project.domain_id == *domain) && (!parent || project.domain_id == *parent) &&
         (!enabled || (host::ToLower(*enabled) == "true") == project.enabled) &&
         (!is_domain || host::ToLower(*is_domain) != "true");
}

Response ListProjects(const Cloud& cloud, Call& call) {
  const bool paged = call.request.Query("page").has_value();
  const auto page = QueryInt(call.request, "page", 1, 1, 1'000'000'000);
  const auto per_page = QueryInt(call.request, "per_page", 5000, 1, 5000);
  if (!page || !per_page || paged != call.request.Query("per_page").has_value()) {
    return IamError(400, "IAM.0011", "page and per_page must come together, 1 to 5000 a page");
  }
  std::vector<Project> found = cloud.identity->Projects();
  std::erase_if(found, [&](const Project& project) { return !ProjectPasses(project, call); });
  if (call.view.empty) found.clear();
  const auto begin = std::min(found.size(), static_cast<std::size_t>((*page - 1) * *per_page));
  const auto end = std::min(found.size(), begin + static_cast<std::size_t>(*per_page));
  const std::string base = cloud.url("iam") + "/v3/projects";
  const std::string next = end < found.size() ? base + "?page=" + std::to_string(*page + 1) +
                                                    "&per_page=" + std::to_string(*per_page)
                                              : "";
  JsonWriter json;
  json.BeginObject().Key("projects").BeginArray();
  for (std::size_t i = begin; i < end; ++i) RenderProject(cloud, found[i], &json);
  json.EndArray();
  RenderLinks(base, next, &json);
  json.EndObject();
  return Response::Json(200, json.Take());
}

Response GetProject(const Cloud& cloud, Call& call) {
  const auto project = cloud.identity->FindProject(call.args[0]);
  if (!project || project->domain_id != call.principal.domain_id) {
    return KeystoneError(404, "Not Found", "Could not find project: " + call.args[0] + ".");
  }
  JsonWriter json;
  json.BeginObject().Key("project");
  RenderProject(cloud, *project, &json);
  json.EndObject();
  return Response::Json(200, json.Take());
}

Response ListDomains(const Cloud& cloud, Call& call) {
  const auto name = call.request.Query("name");
  JsonWriter json;
  json.BeginObject().Key("domains").BeginArray();
  for (const Domain& domain : cloud.identity->Domains()) {
    if (domain.id != call.principal.domain_id || (name && domain.name != *name)) continue;
    json.BeginObject().Field("id", domain.id).Field("name", domain.name).Field("enabled", true);
    json.Field("description", "").Key("links").BeginObject();
    json.Field("self", cloud.url("iam") + "/v3/domains/" + domain.id).EndObject().EndObject();
  }
  json.EndArray();
  RenderLinks(cloud.url("iam") + "/v3/auth/domains", "", &json);
  json.EndObject();
  return Response::Json(200, json.Take());
}

Response GetCatalog(const Cloud& cloud, Call& call) {
  JsonWriter json;
  json.BeginObject().Key("catalog");
  RenderCatalog(cloud, call.project_id, call.behaviour, &json);
  RenderLinks(cloud.url("iam") + "/v3/auth/catalog", "", &json);
  json.EndObject();
  return Response::Json(200, json.Take());
}

Response ListRegions(const Cloud& cloud) {
  JsonWriter json;
  json.BeginObject().Key("regions").BeginArray().BeginObject();
  json.Field("id", cloud.region).Field("type", "public").Field("description", "");
  json.Key("locales").BeginObject().Field("en-us", cloud.region).EndObject();
  json.EndObject().EndArray();
  RenderLinks(cloud.url("iam") + "/v3/regions", "", &json);
  json.EndObject();
  return Response::Json(200, json.Take());
}

}  // namespace

void RenderCatalog(const Cloud& cloud, const std::string& project_id, const Behaviour& behaviour,
                   JsonWriter* json) {
  struct Entry {
    const char* type;
    const char* service;
    const char* path;  // `P` at its end stands for the project id
    bool star = false;
  };
  // iam.md section 4; the first of the two identity entries has the region's name.
  static constexpr Entry kEntries[] = {
      {"identity", "iam", "/v3"},    {"ecs", "ecs", "/v1/P"},
      {"compute", "ecs", "/v2.1/P"}, {"computev2.1", "ecs", "/v2.1/P"},
      {"volume", "evs", "/v2/P"},    {"volumev2", "evs", "/v2/P"},
      {"evs", "evs", "/v2/P"},       {"volumev3", "evs", "/v3/P"},
      {"network", "vpc", ""},        {"vpc", "vpc", "/v1/P"},
      {"vpc2.0", "vpc", "/v2.0/P"},  {"elb", "elb", "/v1.0"},
      {"elbv3", "elb", "/v3/P"},     {"identity", "iam", "/v3", true}};
  json->BeginArray();
  for (const Entry& entry : kEntries) {
    const bool identity = std::string_view(entry.type) == "identity";
    if (identity && !entry.star && behaviour.Defect("catalog-star-only")) continue;
    std::string path = entry.path;
    if (!path.empty() && path.back() == 'P') path.replace(path.size() - 1, 1, project_id);
    const std::string region = entry.star ? "*" : cloud.region;
    const std::string id = host::HexEncode(std::string(entry.type) + "/service/id/").substr(0, 32);
    json->BeginObject().Field("id", id).Field("name", entry.type).Field("type", entry.type);
    json->Key("endpoints").BeginArray().BeginObject();
    json->Field("id", host::HexEncode(region + entry.type + "/endpoint/id/id").substr(0, 32));
    json->Field("interface", "public").Field("region", region).Field("region_id", region);
    json->Field("url", cloud.url(entry.service) + path).EndObject().EndArray().EndObject();
  }
  json->EndArray();
}

void AddIamRoutes(const Cloud& cloud, Router* router) {
  const auto add = [&](const char* pattern, const char* operation, Scope scope, auto handle) {
    router->Add({"iam", "GET", pattern, operation, scope,
                 [cloud, handle](Call& call) { return handle(cloud, call); }});
  };
  const auto projects = [](const Cloud& c, Call& call) { return ListProjects(c, call); };
  const auto project = [](const Cloud& c, Call& call) { return GetProject(c, call); };
  add("/", "iam.versions", Scope::kOpen, [](const Cloud& c, Call&) { return Versions(c); });
  add("/v3", "iam.version", Scope::kOpen, [](const Cloud& c, Call&) { return Version(c); });
  add("/v3/projects", "iam.projects.list", Scope::kAccount, projects);
  add("/v3/auth/projects", "iam.auth_projects.list", Scope::kAccount, projects);
  add("/v3/projects/{}", "iam.project.get", Scope::kAccount, project);
  add("/v3/auth/domains", "iam.domains.list", Scope::kAccount,
      [](const Cloud& c, Call& call) { return ListDomains(c, call); });
  add("/v3/auth/catalog", "iam.catalog", Scope::kAccount,
      [](const Cloud& c, Call& call) { return GetCatalog(c, call); });
  add("/v3/regions", "iam.regions.list", Scope::kAccount,
      [](const Cloud& c, Call&) { return ListRegions(c); });
}

}  // namespace otc::sim
