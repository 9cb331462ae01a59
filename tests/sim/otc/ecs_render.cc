#include "tests/sim/otc/ecs_render.h"

#include "host/base/strings.h"
#include "tests/sim/otc/sim_time.h"

namespace otc::sim {
namespace {

bool IsV6(const std::string& address) { return address.find(':') != std::string::npos; }

void RenderTaskState(const Server& server, JsonWriter* json) {
  json->Key("OS-EXT-STS:task_state");
  if (server.task_state.empty()) {
    json->Null();
  } else {
    json->String(server.task_state);
  }
}

std::int64_t PowerState(const std::string& status) {
  if (status == "SHUTOFF" || status == "SHELVED") return 4;
  return status == "ACTIVE" || status.find("REBOOT") != std::string::npos ? 1 : 0;
}

// One entry of `addresses`; the version is a string in v1 and a number in Nova.
void RenderAddress(const Nic& nic, const std::string& address, bool floating, bool v1,
                   JsonWriter* json) {
  json->BeginObject().Field("addr", address);
  if (v1) {
    json->Field("version", IsV6(address) ? "6" : "4");
  } else {
    json->Field("version", IsV6(address) ? 6 : 4);
  }
  json->Field("OS-EXT-IPS-MAC:mac_addr", nic.mac);
  json->Field("OS-EXT-IPS:type", floating ? "floating" : "fixed");
  if (v1) json->Field("OS-EXT-IPS:port_id", nic.port_id).Field("primary", nic.primary);
  json->EndObject();
}

void RenderAddresses(const Server& server, const RenderContext& context, bool v1,
                     JsonWriter* json) {
  json->Key("addresses").BeginObject().Key(server.vpc_id).BeginArray();
  for (const Nic& nic : server.nics) {
    for (const std::string& ip : nic.ips) RenderAddress(nic, ip, false, v1, json);
    const auto floating = context.floating.find(nic.port_id);
    if (floating != context.floating.end()) RenderAddress(nic, floating->second, true, v1, json);
  }
  json->EndArray().EndObject();
}

void RenderFault(const Server& server, JsonWriter* json) {
  if (!server.fault) return;
  json->Key("fault").BeginObject().Field("message", server.fault->message);
  json->Field("code", server.fault->code).Field("details", "");
  json->Field("created", TimeZ(server.updated)).EndObject();
}

void RenderMetadata(const Server& server, JsonWriter* json) {
  json->Key("metadata").BeginObject();
  for (const auto& [key, value] : server.metadata) json->Field(key, value);
  json->EndObject();
}

void RenderTags(const Server& server, JsonWriter* json) {
  json->Key("tags").BeginArray();
  for (const std::string& tag : server.tags) json->String(tag);
  json->EndArray();
}

void RenderSecurityGroups(const Server& server, bool v1, JsonWriter* json) {
  json->Key("security_groups").BeginArray();
  for (const std::string& group : server.security_groups) {
    json->BeginObject().Field("name", group);
    if (v1)
      json->Field("id",
                  "5e600000-0000-4000-8000-" + host::HexEncode(group + "sg1234").substr(0, 12));
    json->EndObject();
  }
  json->EndArray();
}

void RenderExtendedAttributes(const Server& server, JsonWriter* json) {
  const std::string instance_name = "instance-" + server.id.substr(0, 8);
  json->Field("OS-EXT-SRV-ATTR:instance_name", instance_name);
  json->Field("OS-EXT-SRV-ATTR:hypervisor_hostname", "nova-host-01");
  json->Field("OS-EXT-SRV-ATTR:host", "host-01");
  json->Field("OS-EXT-AZ:availability_zone", server.availability_zone);
  json->Field("OS-EXT-STS:vm_state", VmState(server.status));
  json->Field("OS-EXT-STS:power_state", PowerState(server.status));
  RenderTaskState(server, json);
  json->Field("OS-SRV-USG:launched_at", TimeNoZ(server.created) + ".000000");
  json->Field("OS-SRV-USG:terminated_at", nullptr);
  json->Field("OS-DCF:diskConfig", "MANUAL").Field("config_drive", "");
}

// What v1 gives as strings and Nova as booleans or not at all.
void RenderVolumesV1(const Server& server, JsonWriter* json) {
  json->Key("os-extended-volumes:volumes_attached").BeginArray();
  for (const AttachedVolume& volume : server.volumes) {
    json->BeginObject().Field("id", volume.id).Field("device", volume.device);
    if (volume.boot_index) json->Field("bootIndex", std::to_string(*volume.boot_index));
    json->Field("delete_on_termination", volume.delete_on_termination ? "true" : "false");
    json->EndObject();
  }
  json->EndArray();
}

void RenderFlavorV1(const Server& server, const RenderContext& context, JsonWriter* json) {
  const auto it = context.flavors.find(server.flavor);
  const Flavor flavor = it == context.flavors.end() ? Flavor{} : it->second;
  json->Key("flavor").BeginObject().Field("id", server.flavor).Field("name", server.flavor);
  if (context.behaviour.Defect("flavor-numbers")) {
    json->Field("vcpus", flavor.vcpus).Field("ram", flavor.ram_mb).Field("disk", 0);
  } else {
    json->Field("vcpus", std::to_string(flavor.vcpus)).Field("ram", std::to_string(flavor.ram_mb));
    json->Field("disk", "0");
  }
  json->EndObject();
}

void RenderFlavorNova(const Server& server, const RenderContext& context, JsonWriter* json) {
  json->Key("flavor").BeginObject();
  if (context.microversion < 47) {
    json->Field("id", server.flavor).Key("links").BeginArray().BeginObject();
    json->Field("rel", "bookmark");
    json->Field("href", context.nova_base + "/flavors/" + server.flavor);
    json->EndObject().EndArray().EndObject();
    return;
  }
  const auto it = context.flavors.find(server.flavor);
  const Flavor flavor = it == context.flavors.end() ? Flavor{} : it->second;
  json->Field("original_name", server.flavor).Field("vcpus", flavor.vcpus);
  json->Field("ram", flavor.ram_mb).Field("disk", 0).Field("ephemeral", 0).Field("swap", 0);
  json->Key("extra_specs").BeginObject();
  for (const auto& [key, value] : flavor.extra_specs) json->Field(key, value);
  json->EndObject().EndObject();
}

std::string CreatedText(host::WallTime time, const RenderContext& context) {
  return context.behaviour.Defect("times-without-z") ? TimeNoZ(time) : TimeZ(time);
}

void RenderCommon(const Server& server, const RenderContext& context, JsonWriter* json) {
  json->Field("id", server.id).Field("name", server.name).Field("status", server.status);
  json->Field("tenant_id", server.project_id).Field("user_id", server.user_id);
  json->Field("created", CreatedText(server.created, context));
  json->Field("updated", CreatedText(server.updated, context));
  json->Field("accessIPv4", "").Field("accessIPv6", "").Field("progress", 0);
  json->Field("hostId", host::HexEncode(server.id.substr(0, 16)));
  json->Field("key_name", server.key_name).Field("locked", server.locked);
}

}  // namespace

std::string VmState(const std::string& status) {
  if (status == "SHUTOFF") return "stopped";
  if (status == "BUILD") return "building";
  if (status == "RESIZE" || status == "VERIFY_RESIZE") return "resized";
  if (status == "REBOOT" || status == "HARD_REBOOT" || status == "MIGRATING") return "active";
  return host::ToLower(status);
}

void RenderServerV1(const Server& server, const RenderContext& context, JsonWriter* json) {
  json->BeginObject();
  RenderCommon(server, context, json);
  RenderFlavorV1(server, context, json);
  RenderAddresses(server, context, true, json);
  RenderMetadata(server, json);
  RenderTags(server, json);
  json->Key("sys_tags").BeginArray();
  for (const auto& [key, value] : server.sys_tags) {
    json->BeginObject().Field("key", key).Field("value", value).EndObject();
  }
  json->EndArray();
  RenderSecurityGroups(server, true, json);
  RenderExtendedAttributes(server, json);
  RenderVolumesV1(server, json);
  json->Field("OS-EXT-SRV-ATTR:hostname", host::ToLower(server.name));
  json->Field("OS-EXT-SRV-ATTR:root_device_name", "/dev/vda");
  json->Field("OS-EXT-SRV-ATTR:ramdisk_id", "").Field("OS-EXT-SRV-ATTR:kernel_id", "");
  json->Field("OS-EXT-SRV-ATTR:launch_index", 0);
  json->Field("OS-EXT-SRV-ATTR:reservation_id", "r-" + server.id.substr(0, 8));
  json->Key("image").BeginObject().Field("id", server.image_id).EndObject();
  json->Field("host_status", server.host_status).Field("description", "");
  json->Field("enterprise_project_id", "0");
  RenderFault(server, json);
  json->EndObject();
}

void RenderServerNova(const Server& server, const RenderContext& context, JsonWriter* json) {
  json->BeginObject();
  RenderCommon(server, context, json);
  RenderFlavorNova(server, context, json);
  RenderAddresses(server, context, false, json);
  RenderMetadata(server, json);
  if (context.microversion >= 26) RenderTags(server, json);
  if (context.microversion >= 19) json->Field("description", "");
  RenderSecurityGroups(server, false, json);
  RenderExtendedAttributes(server, json);
  json->Key("os-extended-volumes:volumes_attached").BeginArray();
  for (const AttachedVolume& volume : server.volumes) {
    json->BeginObject().Field("id", volume.id);
    json->Field("delete_on_termination", volume.delete_on_termination).EndObject();
  }
  json->EndArray();
  json->Key("image").BeginObject().Field("id", server.image_id).Key("links").BeginArray();
  json->EndArray().EndObject();
  json->Key("links").BeginArray().BeginObject().Field("rel", "self");
  json->Field("href", context.nova_base + "/servers/" + server.id).EndObject().EndArray();
  RenderFault(server, json);
  json->EndObject();
}

void RenderInterfaces(const Server& server, JsonWriter* json) {
  json->Key("interfaceAttachments").BeginArray();
  for (const Nic& nic : server.nics) {
    json->BeginObject().Field("port_id", nic.port_id).Field("net_id", nic.network_id);
    json->Field("mac_addr", nic.mac).Field("port_state", nic.state);
    json->Key("fixed_ips").BeginArray();
    for (const std::string& ip : nic.ips) {
      json->BeginObject().Field("subnet_id", nic.subnet_id).Field("ip_address", ip).EndObject();
    }
    json->EndArray().EndObject();
  }
  json->EndArray();
}

}  // namespace otc::sim
