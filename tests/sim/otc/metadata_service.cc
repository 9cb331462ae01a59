// The metadata service of one instance (ecs.md section 9, signing.md section 7),
// without credentials. Which instance asks is a switch (metadata_server): on
// loopback all of them have one address.
#include <map>
#include <memory>
#include <mutex>

#include "host/base/strings.h"
#include "tests/sim/otc/errors.h"
#include "tests/sim/otc/services.h"

namespace otc::sim {
namespace {

constexpr std::int64_t kKeyLife = 3600;
constexpr auto kRotateBefore = std::chrono::minutes(10);
constexpr std::int64_t kMaxTokenTtl = 21'600;

Response Missing() {
  Response response{404, "<html><title>404 Not Found</title></html>", {}};
  response.content_type = "text/html";
  return response;
}

Response Text(std::string text) {
  Response response{200, std::move(text), {}};
  response.content_type = "text/plain";
  return response;
}

// Keys that were handed out, one at a time for each instance; the old one goes
// on to work until it expires by itself.
class MetadataKeys {
 public:
  AccessKey KeyFor(const Cloud& cloud, const Server& server) {
    std::lock_guard lock(mutex_);
    auto it = keys_.find(server.id);
    const bool fresh = it != keys_.end() && cloud.identity->FindAccessKey(it->second.access) &&
                       *it->second.expires_at - kRotateBefore > cloud.time->Wall();
    if (!fresh) {
      const auto project = cloud.identity->FindProject(server.project_id);
      const std::string domain = project ? project->domain_id : "";
      AccessKey key = cloud.identity->IssueTemporaryKey("agency-user", domain, kKeyLife);
      it = keys_.insert_or_assign(server.id, std::move(key)).first;
    }
    return it->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, AccessKey> keys_;
};

World::ServerPtr ThisServer(const Cloud& cloud, const Call& call) {
  if (!call.behaviour.metadata_server.empty()) {
    return cloud.world->FindServer(call.behaviour.metadata_server);
  }
  const auto all = cloud.world->Servers();
  return all->empty() ? nullptr : all->front();
}

Response PutToken(const Cloud& cloud, Call& call) {
  const int status = static_cast<int>(call.behaviour.metadata_token_status);
  if (status != 200) {
    Response response = Missing();
    response.status = status;
    return response;
  }
  const auto ttl = call.request.FindHeader("X-Metadata-Token-Ttl-Seconds");
  const auto seconds = ttl ? host::ParseUint(*ttl) : std::nullopt;
  if (!seconds || *seconds < 1 || *seconds > kMaxTokenTtl) {
    return {400, "X-Metadata-Token-Ttl-Seconds must be 1 to 21600", {}};
  }
  return Text("mdt-" + cloud.world->NewHexId());
}

Response MetaData(const Cloud&, const Server& server) {
  JsonWriter json;
  json.BeginObject().Field("uuid", server.id).Field("name", server.name);
  json.Field("hostname", server.name + ".novalocal");
  json.Field("availability_zone", server.availability_zone);
  json.Field("project_id", server.project_id).Field("launch_index", 0);
  json.Field("random_seed", "b3RjLXNpbQ==").Key("meta").BeginObject();
  for (const auto& [key, value] : server.metadata) json.Field(key, value);
  json.EndObject().EndObject();
  return Response::Json(200, json.Take());
}

Response NetworkData(const Server& server) {
  JsonWriter json;
  json.BeginObject().Key("links").BeginArray();
  for (const Nic& nic : server.nics) {
    json.BeginObject().Field("id", "tap" + nic.port_id.substr(0, 11)).Field("type", "vif");
    json.Field("vif_id", nic.port_id).Field("ethernet_mac_address", nic.mac);
    json.Field("mtu", nullptr).EndObject();
  }
  json.EndArray().Key("networks").BeginArray();
  for (const Nic& nic : server.nics) {
    json.BeginObject().Field("id", "network-" + nic.network_id.substr(0, 8));
    json.Field("type", "ipv4_dhcp").Field("link", "tap" + nic.port_id.substr(0, 11));
    json.Field("network_id", nic.network_id).EndObject();
  }
  json.EndArray().Key("services").BeginArray().BeginObject().Field("type", "dns");
  json.Field("address", "100.125.4.25").EndObject().EndArray().EndObject();
  return Response::Json(200, json.Take());
}

Response SecurityKey(const Cloud& cloud, const Server& server, MetadataKeys& keys) {
  const auto agency = server.metadata.find("agency_name");
  if (agency == server.metadata.end() || agency->second.empty()) return Missing();
  const AccessKey key = keys.KeyFor(cloud, server);
  JsonWriter json;
  json.BeginObject().Key("credential").BeginObject().Field("access", key.access);
  json.Field("secret", key.secret).Field("securitytoken", key.security_token);
  json.Field("expires_at", TimeFraction(*key.expires_at)).EndObject().EndObject();
  return Response::Json(200, json.Take());
}

Response Ec2Value(const Cloud& cloud, const Server& server, const std::string& what) {
  const Nic* primary = &server.nics.front();
  for (const Nic& nic : server.nics) {
    if (nic.primary) primary = &nic;
  }
  if (what == "hostname") return Text(server.name + ".novalocal");
  if (what == "instance-type") return Text(server.flavor);
  if (what == "local-ipv4") return Text(primary->ips.front());
  if (what == "security-groups") return Text(host::Join(server.security_groups, "\n"));
  if (what == "public-ipv4") {
    const auto floating = cloud.world->FloatingAddresses();
    const auto it = floating.find(primary->port_id);
    return Text(it == floating.end() ? "" : it->second);
  }
  // Documented as meaningless; certainly not the UUID.
  if (what == "instance-id") return Text("i-00000001");
  return Missing();
}

}  // namespace

void AddMetadataRoutes(const Cloud& cloud, Router* router) {
  using Handle = std::function<Response(Call&, const Server&)>;
  const auto add = [&](const char* pattern, const char* operation, Handle handle) {
    router->Add({"metadata", "GET", pattern, operation, Scope::kOpen,
                 [cloud, handle = std::move(handle)](Call& call) {
                   const auto server = ThisServer(cloud, call);
                   return server ? handle(call, *server) : Missing();
                 }});
  };
  const auto keys = std::make_shared<MetadataKeys>();
  router->Add({"metadata", "PUT", "/meta-data/latest/api/token", "metadata.token", Scope::kOpen,
               [cloud](Call& call) { return PutToken(cloud, call); }});
  add("/openstack/latest/meta_data.json", "metadata.meta_data",
      [cloud](Call&, const Server& server) { return MetaData(cloud, server); });
  add("/openstack/latest/network_data.json", "metadata.network_data",
      [](Call&, const Server& server) { return NetworkData(server); });
  add("/openstack/latest/user_data", "metadata.user_data", [](Call&, const Server& server) {
    return server.user_data.empty() ? Missing() : Text(server.user_data);
  });
  add("/openstack/latest/securitykey", "metadata.security_key",
      [cloud, keys](Call&, const Server& server) { return SecurityKey(cloud, server, *keys); });
  add("/latest/meta-data/placement/availability-zone", "metadata.ec2_zone",
      [](Call&, const Server& server) { return Text(server.availability_zone); });
  add("/latest/meta-data/{}", "metadata.ec2",
      [cloud](Call& call, const Server& server) { return Ec2Value(cloud, server, call.args[0]); });
}

}  // namespace otc::sim
