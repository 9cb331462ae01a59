// Nova v2 and v2.1 on the ECS host, as far as official clients need it (ecs.md
// sections 3 and 10): version document, servers with marker paging, zones,
// flavors, interfaces, tags.
#include <algorithm>

#include "host/base/strings.h"
#include "tests/sim/otc/ecs_render.h"
#include "tests/sim/otc/errors.h"
#include "tests/sim/otc/server_filter.h"
#include "tests/sim/otc/services.h"

namespace otc::sim {
namespace {

constexpr int kMaxMicroversion = 60;

std::string BaseUrl(const Cloud& cloud, const Call& call) {
  return cloud.url("ecs") + "/v2.1/" + call.project_id;
}

// "2.60" -> 60; nothing if it is not of that form.
std::optional<int> ParseMicroversion(std::string_view text) {
  if (text.substr(0, 2) != "2.") return std::nullopt;
  const auto minor = host::ParseUint(text.substr(2));
  if (!minor || *minor > 1000) return std::nullopt;
  return static_cast<int>(*minor);
}

// The version asked for; 2.1 without a header. 406 beyond 2.60.
std::optional<Response> ReadMicroversion(const Call& call, int* microversion) {
  *microversion = 1;
  if (!call.behaviour.nova_microversions) return std::nullopt;
  auto header = call.request.FindHeader("X-OpenStack-Nova-API-Version");
  if (const auto general = call.request.FindHeader("OpenStack-API-Version");
      general && general->rfind("compute ", 0) == 0) {
    header = general->substr(8);
  }
  if (!header) return std::nullopt;
  if (*header == "latest") {
    *microversion = kMaxMicroversion;
    return std::nullopt;
  }
  const auto version = ParseMicroversion(*header);
  if (!version)
    return NovaError(400, "badRequest", "API Version String " + *header + " is of invalid format.");
  if (*version < 1 || *version > kMaxMicroversion) {
    return NovaError(406, "computeFault",
                     "Version " + *header +
                         " is not supported by the API. Minimum is 2.1 and "
                         "maximum is 2.60.");
  }
  *microversion = *version;
  return std::nullopt;
}

void EchoMicroversion(const Call& call, int microversion, Response* response) {
  if (!call.behaviour.nova_microversions) return;
  const std::string version = "2." + std::to_string(microversion);
  response->headers.push_back({"X-OpenStack-Nova-API-Version", version});
  response->headers.push_back({"OpenStack-API-Version", "compute " + version});
}

void RenderVersion(const Cloud& cloud, const Call& call, JsonWriter* json) {
  json->BeginObject().Field("id", "v2.1").Field("status", "CURRENT");
  if (call.behaviour.Defect("nova-no-microversion")) {
    json->Field("version", "").Field("min_version", "");
  } else {
    json->Field("version", "2.60").Field("min_version", "2.1");
  }
  json->Field("updated", "2013-07-23T11:33:21Z").Key("links").BeginArray().BeginObject();
  json->Field("rel", "self").Field("href", cloud.url("ecs") + "/v2.1/").EndObject().EndArray();
  json->Key("media-types").BeginArray().BeginObject().Field("base", "application/json");
  json->Field("type", "application/vnd.openstack.compute+json;version=2.1").EndObject().EndArray();
  json->EndObject();
}

Response Version(const Cloud& cloud, Call& call) {
  JsonWriter json;
  json.BeginObject().Key("version");
  RenderVersion(cloud, call, &json);
  json.EndObject();
  return Response::Json(200, json.Take());
}

Response Versions(const Cloud& cloud, Call& call) {
  JsonWriter json;
  json.BeginObject().Key("versions").BeginArray();
  RenderVersion(cloud, call, &json);
  json.EndArray().EndObject();
  return Response::Json(300, json.Take());
}

RenderContext MakeContext(const Cloud& cloud, const Call& call, int microversion) {
  RenderContext context;
  for (Flavor& flavor : cloud.world->Flavors()) context.flavors[flavor.id] = std::move(flavor);
  context.floating = cloud.world->FloatingAddresses(call.view);
  context.behaviour = call.behaviour;
  context.microversion = microversion;
  context.nova_base = BaseUrl(cloud, call);
  return context;
}

void RenderBrief(const Server& server, const RenderContext& context, JsonWriter* json) {
  json->BeginObject().Field("id", server.id).Field("name", server.name);
  json->Key("links").BeginArray().BeginObject().Field("rel", "self");
  json->Field("href", context.nova_base + "/servers/" + server.id).EndObject().EndArray();
  json->EndObject();
}

Response ListServers(const Cloud& cloud, Call& call, bool detail) {
  int microversion = 1;
  if (auto refused = ReadMicroversion(call, &microversion)) return *std::move(refused);
  const auto limit = QueryInt(call.request, "limit", 25, 0, 1'000'000'000);
  if (!limit) return NovaError(400, "badRequest", "limit must be a number that is not negative");
  const auto status = call.request.Query("status");
  if (status && microversion >= 38 && !IsKnownStatus(*status)) {
    return NovaError(400, "badRequest", "Invalid status value: " + *status);
  }
  const auto all = cloud.world->Servers(call.view);
  const auto found = FilterServers(*all, call.project_id, call.request, call.behaviour);
  if (!found.ok()) return NovaError(400, "badRequest", found.status().message());

  std::size_t begin = 0;
  if (const auto marker = call.request.Query("marker")) {
    const auto at = std::find_if(found->begin(), found->end(),
                                 [&](const auto& server) { return server->id == *marker; });
    if (at == found->end()) {
      return NovaError(400, "badRequest", "marker [" + *marker + "] not found");
    }
    begin = static_cast<std::size_t>(at - found->begin()) + 1;
  }
  const std::size_t size = static_cast<std::size_t>(std::min<std::int64_t>(*limit, 1000));
  const std::size_t end = std::min(found->size(), begin + size);
  const RenderContext context = MakeContext(cloud, call, microversion);
  JsonWriter json;
  json.BeginObject().Key("servers").BeginArray();
  for (std::size_t i = begin; i < end; ++i) {
    if (detail) {
      RenderServerNova(*(*found)[i], context, &json);
    } else {
      RenderBrief(*(*found)[i], context, &json);
    }
  }
  json.EndArray();
  if (end < found->size() && end > begin) {
    json.Key("servers_links").BeginArray().BeginObject().Field("rel", "next");
    const std::string base =
        call.behaviour.internal_links ? "http://nova.internal:8774/v2.1" : context.nova_base;
    json.Field("href", base + "/servers/detail?limit=" + std::to_string(size) +
                           "&marker=" + (*found)[end - 1]->id);
    json.EndObject().EndArray();
  }
  json.EndObject();
  Response response = Response::Json(200, json.Take());
  EchoMicroversion(call, microversion, &response);
  return response;
}

World::ServerPtr ServerOf(const Cloud& cloud, const Call& call) {
  auto server = cloud.world->FindServer(call.args[1]);
  return server && server->project_id == call.project_id ? server : nullptr;
}

Response NoServer(const Call& call) {
  return NovaError(404, "itemNotFound", "Instance " + call.args[1] + " could not be found.");
}

Response GetServer(const Cloud& cloud, Call& call) {
  int microversion = 1;
  if (auto refused = ReadMicroversion(call, &microversion)) return *std::move(refused);
  const auto server = ServerOf(cloud, call);
  if (!server) return NoServer(call);
  JsonWriter json;
  json.BeginObject().Key("server");
  RenderServerNova(*server, MakeContext(cloud, call, microversion), &json);
  json.EndObject();
  Response response = Response::Json(200, json.Take());
  EchoMicroversion(call, microversion, &response);
  return response;
}

Response GetInterfaces(const Cloud& cloud, Call& call) {
  const auto server = ServerOf(cloud, call);
  if (!server) return NoServer(call);
  JsonWriter json;
  json.BeginObject();
  RenderInterfaces(*server, &json);
  json.EndObject();
  return Response::Json(200, json.Take());
}

Response GetTags(const Cloud& cloud, Call& call) {
  int microversion = 1;
  if (auto refused = ReadMicroversion(call, &microversion)) return *std::move(refused);
  if (microversion < 26) return NovaError(404, "itemNotFound", "The resource could not be found.");
  const auto server = ServerOf(cloud, call);
  if (!server) return NoServer(call);
  JsonWriter json;
  json.BeginObject().Key("tags").BeginArray();
  for (const std::string& tag : server->tags) json.String(tag);
  json.EndArray().EndObject();
  return Response::Json(200, json.Take());
}

Response ListZones(const Cloud& cloud, Call&) {
  JsonWriter json;
  json.BeginObject().Key("availabilityZoneInfo").BeginArray();
  for (const std::string& zone : cloud.world->Zones()) {
    json.BeginObject().Field("zoneName", zone).Key("zoneState").BeginObject();
    json.Field("available", true).EndObject().Field("hosts", nullptr).EndObject();
  }
  json.EndArray().EndObject();
  return Response::Json(200, json.Take());
}

void RenderFlavor(const Flavor& flavor, const RenderContext& context, bool detail,
                  JsonWriter* json) {
  json->BeginObject().Field("id", flavor.id).Field("name", flavor.id);
  if (detail) {
    json->Field("vcpus", flavor.vcpus).Field("ram", flavor.ram_mb).Field("disk", 0);
    json->Field("swap", "").Field("OS-FLV-EXT-DATA:ephemeral", 0).Field("rxtx_factor", 1);
    json->Field("OS-FLV-DISABLED:disabled", false).Field("os-flavor-access:is_public", true);
  }
  json->Key("links").BeginArray().BeginObject().Field("rel", "self");
  json->Field("href", context.nova_base + "/flavors/" + flavor.id).EndObject().EndArray();
  json->EndObject();
}

Response ListFlavors(const Cloud& cloud, Call& call, bool detail) {
  const RenderContext context = MakeContext(cloud, call, 1);
  JsonWriter json;
  json.BeginObject().Key("flavors").BeginArray();
  for (const auto& [id, flavor] : context.flavors) RenderFlavor(flavor, context, detail, &json);
  json.EndArray().EndObject();
  return Response::Json(200, json.Take());
}

Response GetFlavor(const Cloud& cloud, Call& call) {
  const auto flavor = cloud.world->FindFlavor(call.args[1]);
  if (!flavor) {
    return NovaError(404, "itemNotFound", "Flavor " + call.args[1] + " could not be found.");
  }
  JsonWriter json;
  json.BeginObject().Key("flavor");
  RenderFlavor(*flavor, MakeContext(cloud, call, 1), true, &json);
  json.EndObject();
  return Response::Json(200, json.Take());
}

}  // namespace

void AddNovaRoutes(const Cloud& cloud, Router* router) {
  using Handle = Response (*)(const Cloud&, Call&);
  const auto add = [&](const std::string& pattern, const char* operation, Scope scope,
                       Handle handle) {
    router->Add({"ecs", "GET", pattern, operation, scope,
                 [cloud, handle](Call& call) { return handle(cloud, call); }});
  };
  add("/", "nova.versions", Scope::kOpen, Versions);
  for (const std::string base : {"/v2.1", "/v2"}) {
    const std::string project = base + "/{}";
    add(base, "nova.version", Scope::kOpen, Version);
    add(project + "/servers", "nova.servers.list_brief", Scope::kNovaProject,
        [](const Cloud& c, Call& call) { return ListServers(c, call, false); });
    add(project + "/servers/detail", "nova.servers.list", Scope::kNovaProject,
        [](const Cloud& c, Call& call) { return ListServers(c, call, true); });
    add(project + "/servers/{}", "nova.server.get", Scope::kNovaProject, GetServer);
    add(project + "/servers/{}/os-interface", "nova.interfaces.list", Scope::kNovaProject,
        GetInterfaces);
    add(project + "/servers/{}/tags", "nova.tags.get", Scope::kNovaProject, GetTags);
    add(project + "/os-availability-zone", "nova.zones.list", Scope::kNovaProject, ListZones);
    add(project + "/flavors", "nova.flavors.list_brief", Scope::kNovaProject,
        [](const Cloud& c, Call& call) { return ListFlavors(c, call, false); });
    add(project + "/flavors/detail", "nova.flavors.list", Scope::kNovaProject,
        [](const Cloud& c, Call& call) { return ListFlavors(c, call, true); });
    add(project + "/flavors/{}", "nova.flavor.get", Scope::kNovaProject, GetFlavor);
  }
}

}  // namespace otc::sim
