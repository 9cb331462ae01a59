#include "tests/sim/otc/server_json.h"

#include <cstdio>
#include <regex>

#include "host/base/strings.h"
#include "tests/sim/otc/server_filter.h"

namespace otc::sim {
namespace {

constexpr std::int64_t kMaxCount = 20'000;

Nic ReadNic(Poco::JSON::Object::Ptr object, const std::string& path,
            std::vector<std::string>* errors) {
  Nic nic;
  JsonFields fields(object, path, errors);
  fields.String("port_id", &nic.port_id);
  fields.String("mac", &nic.mac);
  fields.String("network_id", &nic.network_id);
  fields.String("subnet_id", &nic.subnet_id);
  fields.Strings("ips", &nic.ips);
  fields.Bool("primary", &nic.primary);
  fields.String("state", &nic.state);
  fields.Finish();
  return nic;
}

AttachedVolume ReadVolume(Poco::JSON::Object::Ptr object, const std::string& path,
                          std::vector<std::string>* errors) {
  AttachedVolume volume;
  JsonFields fields(object, path, errors);
  if (!fields.String("id", &volume.id)) fields.Error("id", "missing");
  fields.String("device", &volume.device);
  fields.Int("size_gb", &volume.size_gb, 1, 32'768);
  std::int64_t boot_index = 0;
  if (fields.Int("boot_index", &boot_index, 0, 100)) volume.boot_index = boot_index;
  fields.Bool("delete_on_termination", &volume.delete_on_termination);
  fields.OneOf("bus", &volume.bus, {"virtio", "scsi"});
  fields.Finish();
  return volume;
}

void ReadFault(JsonFields& fields, Server* server, std::vector<std::string>* errors) {
  const auto object = fields.Object("fault");
  if (object.isNull()) return;
  ServerFault fault;
  JsonFields members(object, fields.PathOf("fault"), errors);
  members.Int("code", &fault.code, 0, 999);
  members.String("message", &fault.message);
  members.Finish();
  server->fault = fault;
}

void ReadServerFields(JsonFields& fields, Server* server, std::vector<std::string>* errors) {
  fields.String("name", &server->name);
  fields.String("project_id", &server->project_id);
  std::string status;
  if (fields.String("status", &status)) {
    if (!IsKnownStatus(status)) fields.Error("status", "'" + status + "' is no server status");
    server->status = status;
  }
  fields.String("task_state", &server->task_state);
  fields.String("flavor", &server->flavor);
  fields.String("availability_zone", &server->availability_zone);
  fields.String("vpc_id", &server->vpc_id);
  fields.String("image_id", &server->image_id);
  fields.String("key_name", &server->key_name);
  fields.String("user_id", &server->user_id);
  fields.String("user_data", &server->user_data);
  fields.String("host_status", &server->host_status);
  fields.Bool("locked", &server->locked);
  fields.Strings("tags", &server->tags);
  fields.Strings("security_groups", &server->security_groups);
  fields.StringMap("sys_tags", &server->sys_tags);
  std::map<std::string, std::string> metadata;
  if (fields.StringMap("metadata", &metadata)) {
    for (auto& [key, value] : metadata) server->metadata[key] = std::move(value);
  }
  std::vector<std::string> ips;
  if (fields.Strings("ips", &ips)) {
    if (server->nics.empty()) server->nics.emplace_back();
    server->nics.front().ips = std::move(ips);
  }
  if (fields.Has("nics")) server->nics.clear();
  int index = 0;
  for (const auto& nic : fields.Objects("nics")) {
    server->nics.push_back(
        ReadNic(nic, fields.PathOf("nics[" + std::to_string(index++) + "]"), errors));
  }
  if (fields.Has("volumes")) server->volumes.clear();
  index = 0;
  for (const auto& volume : fields.Objects("volumes")) {
    server->volumes.push_back(
        ReadVolume(volume, fields.PathOf("volumes[" + std::to_string(index++) + "]"), errors));
  }
  ReadFault(fields, server, errors);
}

void ReadPublicIpFields(JsonFields& fields, PublicIp* ip) {
  fields.String("project_id", &ip->project_id);
  fields.OneOf("status", &ip->status,
               {"PENDING_CREATE", "NOTIFYING", "DOWN", "BINDING", "PENDING_UPDATE", "ACTIVE", "ELB",
                "VPN", "BIND_ERROR", "ERROR", "FREEZED", "PENDING_DELETE", "NOTIFY_DELETE"});
  fields.String("type", &ip->type);
  fields.String("address", &ip->address);
  fields.String("private_ip", &ip->private_ip);
  fields.String("port_id", &ip->port_id);
  fields.String("bandwidth_id", &ip->bandwidth_id);
  fields.String("bandwidth_name", &ip->bandwidth_name);
  fields.OneOf("bandwidth_share_type", &ip->bandwidth_share_type, {"PER", "WHOLE"});
  fields.Int("bandwidth_size", &ip->bandwidth_size, 1, 2000);
  fields.String("alias", &ip->alias);
}

}  // namespace

ServerSeed ReadServerSeed(Poco::JSON::Object::Ptr object, const std::string& path,
                          std::vector<std::string>* errors) {
  ServerSeed seed;
  JsonFields fields(object, path, errors);
  if (fields.String("id", &seed.server.id) && !IsUuid(seed.server.id)) {
    fields.Error("id", "'" + seed.server.id + "' is not a UUID with dashes");
  }
  ReadServerFields(fields, &seed.server, errors);
  if (seed.server.name.empty()) fields.Error("name", "missing");
  fields.Int("count", &seed.count, 1, kMaxCount);
  if (seed.count > 1) {
    static const std::regex kPattern("^[^%]*%(0[1-9])?d[^%]*$");
    if (!std::regex_match(seed.server.name, kPattern)) {
      fields.Error("name", "with count it needs one %d or %04d, is '" + seed.server.name + "'");
      seed.count = 1;
    }
    if (!seed.server.id.empty()) fields.Error("id", "cannot be given together with count");
  }
  std::string public_ip;
  if (fields.String("public_ip", &public_ip)) seed.public_ip = public_ip;
  fields.Finish();
  return seed;
}

void ReadServerPatch(Poco::JSON::Object::Ptr object, const std::string& path, Server* server,
                     std::vector<std::string>* errors) {
  JsonFields fields(object, path, errors);
  ReadServerFields(fields, server, errors);
  fields.Finish();
}

PublicIp ReadPublicIp(Poco::JSON::Object::Ptr object, const std::string& path,
                      std::vector<std::string>* errors) {
  PublicIp ip;
  JsonFields fields(object, path, errors);
  fields.String("id", &ip.id);
  ReadPublicIpFields(fields, &ip);
  fields.Finish();
  return ip;
}

void ReadPublicIpPatch(Poco::JSON::Object::Ptr object, const std::string& path, PublicIp* ip,
                       std::vector<std::string>* errors) {
  JsonFields fields(object, path, errors);
  ReadPublicIpFields(fields, ip);
  fields.Finish();
}

Flavor ReadFlavor(Poco::JSON::Object::Ptr object, const std::string& path,
                  std::vector<std::string>* errors) {
  Flavor flavor;
  JsonFields fields(object, path, errors);
  if (!fields.String("id", &flavor.id)) fields.Error("id", "missing");
  fields.Int("vcpus", &flavor.vcpus, 1, 1024);
  fields.Int("ram_mb", &flavor.ram_mb, 1, 16'777'216);
  fields.StringMap("extra_specs", &flavor.extra_specs);
  fields.Finish();
  return flavor;
}

std::string SeedName(const ServerSeed& seed, std::int64_t index) {
  if (seed.count == 1) return seed.server.name;
  const std::string& pattern = seed.server.name;
  const auto percent = pattern.find('%');
  const auto end = pattern.find('d', percent);
  const std::string width = pattern.substr(percent + 1, end - percent - 1);
  std::string digits = std::to_string(index);
  const std::size_t wanted = width.empty() ? 0 : static_cast<std::size_t>(width[1] - '0');
  if (digits.size() < wanted) digits.insert(0, wanted - digits.size(), '0');
  return pattern.substr(0, percent) + digits + pattern.substr(end + 1);
}

}  // namespace otc::sim
