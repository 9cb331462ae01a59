// EIP v1 on the VPC host, reading side (eip.md section 1): list with marker
// paging, single address.
#include <algorithm>

#include "host/base/strings.h"
#include "tests/sim/otc/errors.h"
#include "tests/sim/otc/server_filter.h"
#include "tests/sim/otc/services.h"

namespace otc::sim {
namespace {

constexpr std::int64_t kPageLimit = 2000;

void RenderPublicIp(const PublicIp& ip, JsonWriter* json) {
  json->BeginObject().Field("id", ip.id).Field("status", ip.status).Field("type", ip.type);
  json->Field("public_ip_address", ip.address).Field("ip_version", 4);
  json->Field("tenant_id", ip.project_id).Field("create_time", TimeBlank(ip.created));
  // Absent when unbound, and for an address of a dedicated balancer.
  if (!ip.port_id.empty()) {
    json->Field("private_ip_address", ip.private_ip).Field("port_id", ip.port_id);
  }
  json->Field("bandwidth_id", ip.bandwidth_id).Field("bandwidth_size", ip.bandwidth_size);
  json->Field("bandwidth_share_type", ip.bandwidth_share_type);
  json->Field("bandwidth_name", ip.bandwidth_name);
  if (!ip.alias.empty()) json->Field("alias", ip.alias);
  json->Key("profile").BeginObject().EndObject().Field("enterprise_project_id", "0");
  json->Field("public_border_group", "center").EndObject();
}

bool Passes(const PublicIp& ip, const Call& call, const std::vector<std::string>& ports) {
  if (ip.project_id != call.project_id) return false;
  return ports.empty() || std::find(ports.begin(), ports.end(), ip.port_id) != ports.end();
}

Response ListPublicIps(const Cloud& cloud, Call& call) {
  const auto limit = QueryInt(call.request, "limit", kPageLimit, 0, 1'000'000'000);
  if (!limit) return VpcError(400, "VPC.0501", "limit must be a number that is not negative");
  std::vector<std::string> ports;
  if (call.behaviour.eip_port_filter) {
    for (auto& [key, value] : call.request.QueryPairs()) {
      if (key == "port_id") ports.push_back(value);
    }
  }
  std::vector<World::PublicIpPtr> found;
  const auto all = cloud.world->PublicIps(call.view);
  for (const auto& ip : *all) {
    if (Passes(*ip, call, ports)) found.push_back(ip);
  }
  std::size_t begin = 0;
  const auto marker = call.request.Query("marker");
  if (marker && !call.behaviour.Defect("eip-ignores-marker")) {
    const auto at =
        std::find_if(found.begin(), found.end(), [&](const auto& ip) { return ip->id == *marker; });
    if (at == found.end()) return VpcError(400, "VPC.0501", "marker " + *marker + " not found");
    begin = static_cast<std::size_t>(at - found.begin()) + 1;
  }
  const std::size_t size = static_cast<std::size_t>(std::min(*limit, kPageLimit));
  const std::size_t end = std::min(found.size(), begin + size);
  JsonWriter json;
  json.BeginObject().Key("publicips").BeginArray();
  for (std::size_t i = begin; i < end; ++i) RenderPublicIp(*found[i], &json);
  json.EndArray().EndObject();
  return Response::Json(200, json.Take());
}

Response GetPublicIp(const Cloud& cloud, Call& call) {
  const auto ip = cloud.world->FindPublicIp(call.args[1]);
  if (!ip || ip->project_id != call.project_id) {
    return VpcError(404, "VPC.0504", "Floating IP " + call.args[1] + " could not be found.");
  }
  JsonWriter json;
  json.BeginObject().Key("publicip");
  RenderPublicIp(*ip, &json);
  json.EndObject();
  return Response::Json(200, json.Take());
}

}  // namespace

void AddEipRoutes(const Cloud& cloud, Router* router) {
  const auto add = [&](const char* pattern, const char* operation,
                       Response (*handle)(const Cloud&, Call&)) {
    router->Add({"vpc", "GET", pattern, operation, Scope::kVpcProject,
                 [cloud, handle](Call& call) { return handle(cloud, call); }});
  };
  add("/v1/{}/publicips", "eip.list", ListPublicIps);
  add("/v1/{}/publicips/{}", "eip.get", GetPublicIp);
}

}  // namespace otc::sim
