// ECS native v1, reading side: servers, flavors, tags, interfaces, disks, jobs
// (ecs.md sections 2, 6, 10).
#include <algorithm>

#include "host/base/strings.h"
#include "tests/sim/otc/ecs_render.h"
#include "tests/sim/otc/errors.h"
#include "tests/sim/otc/server_filter.h"
#include "tests/sim/otc/services.h"

namespace otc::sim {
namespace {

constexpr std::int64_t kDefaultLimit = 25;
constexpr std::int64_t kMaxLimit = 1000;

RenderContext MakeContext(const Cloud& cloud, const Call& call) {
  RenderContext context;
  for (Flavor& flavor : cloud.world->Flavors()) context.flavors[flavor.id] = std::move(flavor);
  context.floating = cloud.world->FloatingAddresses(call.view);
  context.behaviour = call.behaviour;
  return context;
}

Response ServerNotFound(const std::string& id) {
  return EcsError(404, "Ecs.0114", "Instance[" + id + "] could not be found.");
}

// The server of the path, or the 400 or 404 that the service would give.
Result<World::ServerPtr> ServerOf(const Cloud& cloud, const Call& call, Response* refusal) {
  const std::string& id = call.args[1];
  if (!IsUuid(id)) {
    *refusal = EcsError(400, "Ecs.0005", "Invalid UUID: " + id);
    return Status(Code::kInvalidArgument, "BadId", id);
  }
  World::ServerPtr server = cloud.world->FindServer(id);
  if (!server || server->project_id != call.project_id) {
    *refusal = ServerNotFound(id);
    return Status(Code::kNotFound, "NotFound", id);
  }
  return server;
}

Response ListServers(const Cloud& cloud, Call& call) {
  const auto limit = QueryInt(call.request, "limit", kDefaultLimit, 1, kMaxLimit);
  const auto offset = QueryInt(call.request, "offset", 1, 0, 1'000'000'000);
  if (!limit) return EcsError(400, "Ecs.0005", "limit must be a number from 1 to 1000");
  if (!offset) return EcsError(400, "Ecs.0005", "offset must be a page number from 1");
  const auto all = cloud.world->Servers(call.view);
  const auto found = FilterServers(*all, call.project_id, call.request, call.behaviour);
  if (!found.ok()) return EcsError(400, "Ecs.0005", found.status().message());

  const std::size_t size = static_cast<std::size_t>(*limit);
  const std::int64_t page = std::max<std::int64_t>(*offset, 1);
  const std::int64_t first =
      call.behaviour.Defect("offset-is-record") ? *offset : (page - 1) * *limit;
  const std::size_t begin = std::min(found->size(), static_cast<std::size_t>(first));
  const std::size_t end = std::min(found->size(), begin + size);
  const RenderContext context = MakeContext(cloud, call);
  JsonWriter json;
  json.BeginObject().Field("count", static_cast<std::int64_t>(found->size()));
  json.Key("servers").BeginArray();
  for (std::size_t i = begin; i < end; ++i) RenderServerV1(*(*found)[i], context, &json);
  json.EndArray().EndObject();
  return Response::Json(200, json.Take());
}

Response GetServer(const Cloud& cloud, Call& call) {
  Response refusal;
  const auto server = ServerOf(cloud, call, &refusal);
  if (!server.ok()) return refusal;
  JsonWriter json;
  json.BeginObject().Key("server");
  RenderServerV1(**server, MakeContext(cloud, call), &json);
  json.EndObject();
  return Response::Json(200, json.Take());
}

Response GetInterfaces(const Cloud& cloud, Call& call) {
  Response refusal;
  const auto server = ServerOf(cloud, call, &refusal);
  if (!server.ok()) return refusal;
  const std::int64_t free = 12 - static_cast<std::int64_t>((*server)->nics.size());
  JsonWriter json;
  json.BeginObject();
  RenderInterfaces(**server, &json);
  json.Key("attachableQuantity").BeginObject().Field("free_nic", free);
  json.Field("free_efi_nic", 0).EndObject().EndObject();
  return Response::Json(200, json.Take());
}

Response ListFlavors(const Cloud& cloud, Call& call) {
  const auto zone = call.request.Query("availability_zone");
  const auto zones = cloud.world->Zones();
  JsonWriter json;
  json.BeginObject().Key("flavors").BeginArray();
  if (!zone || std::find(zones.begin(), zones.end(), *zone) != zones.end()) {
    for (const Flavor& flavor : cloud.world->Flavors()) {
      json.BeginObject().Field("id", flavor.id).Field("name", flavor.id);
      json.Field("vcpus", std::to_string(flavor.vcpus)).Field("ram", flavor.ram_mb);
      json.Field("disk", "0").Field("swap", "").Field("rxtx_factor", 1);
      json.Field("os-flavor-access:is_public", true).Key("links").BeginArray().EndArray();
      json.Key("os_extra_specs").BeginObject();
      for (const auto& [key, value] : flavor.extra_specs) json.Field(key, value);
      json.EndObject().EndObject();
    }
  }
  json.EndArray().EndObject();
  return Response::Json(200, json.Take());
}

Response GetTags(const Cloud& cloud, Call& call) {
  Response refusal;
  const auto server = ServerOf(cloud, call, &refusal);
  if (!server.ok()) return refusal;
  JsonWriter json;
  json.BeginObject().Key("tags").BeginArray();
  for (const std::string& tag : (*server)->tags) {
    const auto equals = tag.find('=');
    if (equals == std::string::npos) continue;  // a native 1-D tag, not a pair
    json.BeginObject().Field("key", tag.substr(0, equals));
    json.Field("value", tag.substr(equals + 1)).EndObject();
  }
  json.EndArray().Key("sys_tags").BeginArray();
  for (const auto& [key, value] : (*server)->sys_tags) {
    json.BeginObject().Field("key", key).Field("value", value).EndObject();
  }
  json.EndArray().EndObject();
  return Response::Json(200, json.Take());
}

void RenderAttachment(const Server& server, const AttachedVolume& volume, JsonWriter* json) {
  json->BeginObject().Field("id", volume.id).Field("volumeId", volume.id);
  json->Field("serverId", server.id).Field("size", volume.size_gb);
  json->Field("device", volume.device).Field("pciAddress", "0000:02:01.0");
  if (volume.boot_index) {
    json->Field("bootIndex", *volume.boot_index);
  } else {
    json->Field("bootIndex", nullptr);
  }
  json->Field("bus", volume.bus).EndObject();
}

Response ListDisks(const Cloud& cloud, Call& call) {
  Response refusal;
  const auto server = ServerOf(cloud, call, &refusal);
  if (!server.ok()) return refusal;
  std::int64_t scsi = 0;
  for (const AttachedVolume& volume : (*server)->volumes) scsi += volume.bus == "scsi" ? 1 : 0;
  const std::int64_t all = static_cast<std::int64_t>((*server)->volumes.size());
  JsonWriter json;
  json.BeginObject().Key("volumeAttachments").BeginArray();
  for (const AttachedVolume& volume : (*server)->volumes) {
    RenderAttachment(**server, volume, &json);
  }
  json.EndArray().Key("attachableQuantity").BeginObject();
  json.Field("free_scsi", std::min<std::int64_t>(59 - scsi, 60 - all));
  json.Field("free_blk", std::min<std::int64_t>(24 - (all - scsi), 60 - all));
  json.Field("free_disk", 60 - all).EndObject().EndObject();
  return Response::Json(200, json.Take());
}

Response GetDisk(const Cloud& cloud, Call& call) {
  Response refusal;
  const auto server = ServerOf(cloud, call, &refusal);
  if (!server.ok()) return refusal;
  for (const AttachedVolume& volume : (*server)->volumes) {
    if (volume.id != call.args[2]) continue;
    JsonWriter json;
    json.BeginObject().Key("volumeAttachment");
    RenderAttachment(**server, volume, &json);
    json.EndObject();
    return Response::Json(200, json.Take());
  }
  return EcsError(404, "Ecs.0111", "The disk is not attached to this server");
}

void RenderJob(const Job& job, JsonWriter* json) {
  json->BeginObject().Field("job_id", job.id).Field("job_type", job.type);
  json->Field("status", job.status).Field("begin_time", TimeZ(job.begin));
  json->Field("end_time", job.end == host::WallTime{} ? "" : TimeZ(job.end));
  if (job.error_code.empty()) {
    json->Field("error_code", nullptr).Field("fail_reason", nullptr);
  } else {
    json->Field("error_code", job.error_code).Field("fail_reason", job.fail_reason);
  }
  json->Key("entities").BeginObject();
  for (const auto& [key, value] : job.entities) json->Field(key, value);
  if (!job.sub_jobs.empty()) {
    json->Field("sub_jobs_total", static_cast<std::int64_t>(job.sub_jobs.size()));
    json->Key("sub_jobs").BeginArray();
    for (const Job& sub : job.sub_jobs) RenderJob(sub, json);
    json->EndArray();
  }
  json->EndObject().EndObject();
}

Response GetJob(const Cloud& cloud, Call& call) {
  const auto job = cloud.world->FindJob(call.args[1]);
  if (!job || job->project_id != call.project_id) {
    return EcsError(400, "Common.0011", "Invalid job id: " + call.args[1]);
  }
  JsonWriter json;
  RenderJob(*job, &json);
  return Response::Json(200, json.Take());
}

}  // namespace

void AddEcsRoutes(const Cloud& cloud, Router* router) {
  using Handle = Response (*)(const Cloud&, Call&);
  const auto add = [&](const char* pattern, const char* operation, Handle handle) {
    router->Add({"ecs", "GET", pattern, operation, Scope::kEcsProject,
                 [cloud, handle](Call& call) { return handle(cloud, call); }});
  };
  add("/v1/{}/cloudservers/detail", "ecs.servers.list", ListServers);
  add("/v1/{}/cloudservers/flavors", "ecs.flavors.list", ListFlavors);
  add("/v1/{}/cloudservers/{}", "ecs.server.get", GetServer);
  add("/v1/{}/cloudservers/{}/os-interface", "ecs.interfaces.list", GetInterfaces);
  add("/v1/{}/cloudservers/{}/tags", "ecs.tags.get", GetTags);
  add("/v1/{}/cloudservers/{}/block_device", "ecs.disks.list", ListDisks);
  add("/v1/{}/cloudservers/{}/block_device/{}", "ecs.disk.get", GetDisk);
  add("/v1/{}/jobs/{}", "ecs.job.get", GetJob);
}

}  // namespace otc::sim
