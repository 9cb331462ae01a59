// EVS, as far as clients touch it before any volume exists: version documents,
// volume types and zones (interop-clients.md sections 4 and 5).
#include "tests/sim/otc/errors.h"
#include "tests/sim/otc/services.h"

namespace otc::sim {
namespace {

void RenderVersion(const Cloud& cloud, const char* id, const char* status, const char* max,
                   JsonWriter* json) {
  const std::string number = std::string(id).substr(0, 2);
  json->BeginObject().Field("id", id).Field("status", status).Field("version", max);
  json->Field("min_version", *max == '\0' ? "" : "3.0").Field("updated", "2016-02-08T12:20:21Z");
  json->Key("links").BeginArray().BeginObject().Field("rel", "self");
  json->Field("href", cloud.url("evs") + "/" + number + "/").EndObject().EndArray().EndObject();
}

Response Versions(const Cloud& cloud, int status, bool with_v2) {
  JsonWriter json;
  json.BeginObject().Key("versions").BeginArray();
  if (with_v2) RenderVersion(cloud, "v2.0", "SUPPORTED", "", &json);
  RenderVersion(cloud, "v3.0", "CURRENT", "3.50", &json);
  json.EndArray().EndObject();
  return Response::Json(status, json.Take());
}

Response ListTypes(const Cloud& cloud) {
  struct Type {
    const char* id;
    const char* name;
  };
  static constexpr Type kTypes[] = {{"3d1b3a5e-7b1c-4c8a-9b1e-000000000001", "SATA"},
                                    {"3d1b3a5e-7b1c-4c8a-9b1e-000000000002", "SAS"},
                                    {"3d1b3a5e-7b1c-4c8a-9b1e-000000000003", "SSD"}};
  std::string zones;
  for (const std::string& zone : cloud.world->Zones()) zones += (zones.empty() ? "" : ",") + zone;
  JsonWriter json;
  json.BeginObject().Key("volume_types").BeginArray();
  for (const Type& type : kTypes) {
    json.BeginObject().Field("id", type.id).Field("name", type.name);
    json.Field("is_public", true).Field("description", nullptr).Field("qos_specs_id", nullptr);
    json.Key("extra_specs").BeginObject().Field("volume_backend_name", type.name);
    json.Field("availability-zone", zones).Field("RESKEY:availability_zones", zones);
    json.EndObject().EndObject();
  }
  json.EndArray().EndObject();
  return Response::Json(200, json.Take());
}

Response ListZones(const Cloud& cloud) {
  JsonWriter json;
  json.BeginObject().Key("availabilityZoneInfo").BeginArray();
  for (const std::string& zone : cloud.world->Zones()) {
    json.BeginObject().Field("zoneName", zone).Key("zoneState").BeginObject();
    json.Field("available", true).EndObject().EndObject();
  }
  json.EndArray().EndObject();
  return Response::Json(200, json.Take());
}

}  // namespace

void AddEvsRoutes(const Cloud& cloud, Router* router) {
  const auto add = [&](const std::string& pattern, const char* operation, Scope scope,
                       std::function<Response(Call&)> handle) {
    router->Add({"evs", "GET", pattern, operation, scope, std::move(handle)});
  };
  add("/", "evs.versions", Scope::kOpen, [cloud](Call&) { return Versions(cloud, 300, true); });
  add("/v3", "evs.version", Scope::kOpen, [cloud](Call&) { return Versions(cloud, 200, false); });
  for (const std::string base : {"/v2/{}", "/v3/{}"}) {
    add(base + "/types", "evs.types.list", Scope::kNovaProject,
        [cloud](Call&) { return ListTypes(cloud); });
    add(base + "/os-availability-zone", "evs.zones.list", Scope::kNovaProject,
        [cloud](Call&) { return ListZones(cloud); });
  }
}

}  // namespace otc::sim
