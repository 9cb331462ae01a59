#include "tests/sim/kube/node_generator.h"

#include <cstdint>
#include <cstdio>

namespace otc::kubesim {
namespace {

// A hash good enough to look like one (splitmix64).
std::uint64_t Mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ull;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

std::string Hex64(std::uint64_t seed) {
  std::string text;
  for (std::uint64_t i = 0; i < 4; ++i) {
    char part[17];
    std::snprintf(part, sizeof(part), "%016llx",
                  static_cast<unsigned long long>(Mix(seed * 4 + i)));
    text += part;
  }
  return text;
}

std::string UuidOf(std::uint64_t seed) {
  std::string hex = Hex64(seed).substr(0, 32);
  hex[12] = '4';
  hex[16] = 'a';
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20);
}

std::string NumberedName(const std::string& prefix, std::size_t index) {
  char number[32];
  std::snprintf(number, sizeof(number), "-%05zu", index);
  return prefix + number;
}

std::string AddressOf(std::size_t index) {
  return "10." + std::to_string(16 + index / 65536 % 64) + "." + std::to_string(index / 256 % 256) +
         "." + std::to_string(index % 256);
}

Json Labels(const std::string& name, std::size_t index) {
  const std::string zone = "eu-de-0" + std::to_string(1 + index % 3);
  return {{"beta.kubernetes.io/arch", "amd64"},
          {"beta.kubernetes.io/instance-type", "s3.xlarge.4"},
          {"beta.kubernetes.io/os", "linux"},
          {"failure-domain.beta.kubernetes.io/region", "eu-de"},
          {"failure-domain.beta.kubernetes.io/zone", zone},
          {"kubernetes.io/arch", "amd64"},
          {"kubernetes.io/hostname", name},
          {"kubernetes.io/os", "linux"},
          {"node.kubernetes.io/instance-type", "s3.xlarge.4"},
          {"node-role.kubernetes.io/worker", ""},
          {"example.com/pool", "pool-" + std::to_string(index % 8)},
          {"example.com/team", "team-" + std::to_string(index % 5)},
          {"topology.kubernetes.io/region", "eu-de"},
          {"topology.kubernetes.io/zone", zone}};
}

Json Conditions(const std::string& now) {
  Json list = Json::array();
  const auto add = [&](const char* type, const char* status, const char* reason,
                       const char* message) {
    list.push_back({{"type", type},
                    {"status", status},
                    {"lastHeartbeatTime", now},
                    {"lastTransitionTime", now},
                    {"reason", reason},
                    {"message", message}});
  };
  add("NetworkUnavailable", "False", "RouteCreated", "the network plugin is running on this node");
  add("MemoryPressure", "False", "KubeletHasSufficientMemory",
      "kubelet has sufficient memory available");
  add("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure");
  add("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available");
  add("Ready", "True", "KubeletReady", "kubelet is posting ready status");
  return list;
}

Json Images(std::size_t index) {
  Json list = Json::array();
  for (std::size_t i = 0; i < 40; ++i) {
    // Nodes of one cluster share most images, as real ones do.
    const std::uint64_t seed = i < 30 ? i : i + index % 50 * 100;
    const std::string name = "registry.example.com/platform/apps/service-" + std::to_string(seed);
    list.push_back({{"names", {name + "@sha256:" + Hex64(seed), name + ":v1." + std::to_string(i)}},
                    {"sizeBytes", 10'000'000 + Mix(seed) % 500'000'000}});
  }
  return list;
}

// The fields that the writer at this place owns, in the server's notation.
Json OwnedByKubelet() {
  Json conditions = Json::object();
  for (const char* type : {"DiskPressure", "MemoryPressure", "PIDPressure", "Ready"}) {
    conditions["k:{\"type\":\"" + std::string(type) + "\"}"] = {
        {"f:lastHeartbeatTime", Json::object()}};
  }
  return {{"f:status", {{"f:conditions", conditions}, {"f:images", Json::object()}}}};
}

Json OwnedAtRegistration() {
  Json labels = {{".", Json::object()}};
  const Json all = Labels("", 0);
  for (const auto& [key, value] : all.items()) {
    labels["f:" + key] = Json::object();
  }
  return {{"f:metadata",
           {{"f:annotations",
             {{".", Json::object()},
              {"f:volumes.kubernetes.io/controller-managed-attach-detach", Json::object()}}},
            {"f:labels", labels}}}};
}

Json ManagedFields(const std::string& now) {
  const auto entry = [&](const char* manager, const char* subresource, Json fields) {
    Json result = {{"manager", manager},       {"operation", "Update"},
                   {"apiVersion", "v1"},       {"time", now},
                   {"fieldsType", "FieldsV1"}, {"fieldsV1", std::move(fields)}};
    if (*subresource != '\0') {
      result["subresource"] = subresource;
    }
    return result;
  };
  return {entry("kubelet", "", OwnedAtRegistration()),
          entry("kube-controller-manager", "",
                {{"f:spec", {{"f:podCIDR", Json::object()}, {"f:podCIDRs", Json::object()}}}}),
          entry("kubelet", "status", OwnedByKubelet())};
}

Json Capacity(const char* cpu, const char* memory) {
  return {{"cpu", cpu},           {"ephemeral-storage", "103079844Ki"},
          {"hugepages-1Gi", "0"}, {"hugepages-2Mi", "0"},
          {"memory", memory},     {"pods", "110"}};
}

}  // namespace

Json GenerateNode(const std::string& prefix, std::size_t index, const std::string& now) {
  const std::string name = NumberedName(prefix, index);
  const std::string uuid = UuidOf(1'000'000 + index);
  const std::string cidr =
      "10." + std::to_string(128 + index / 256 % 64) + "." + std::to_string(index % 256) + ".0/24";
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata",
           {{"name", name},
            {"uid", UuidOf(2'000'000 + index)},
            {"creationTimestamp", now},
            {"labels", Labels(name, index)},
            {"annotations",
             {{"node.alpha.kubernetes.io/ttl", "0"},
              {"volumes.kubernetes.io/controller-managed-attach-detach", "true"}}},
            {"managedFields", ManagedFields(now)}}},
          {"spec", {{"podCIDR", cidr}, {"podCIDRs", {cidr}}, {"providerID", "otc:///" + uuid}}},
          {"status",
           {{"capacity", Capacity("4", "16393216Ki")},
            {"allocatable", Capacity("3920m", "14993536Ki")},
            {"conditions", Conditions(now)},
            {"addresses",
             {{{"type", "InternalIP"}, {"address", AddressOf(index)}},
              {{"type", "Hostname"}, {"address", name}}}},
            {"daemonEndpoints", {{"kubeletEndpoint", {{"Port", 10250}}}}},
            {"nodeInfo",
             {{"machineID", Hex64(3'000'000 + index).substr(0, 32)},
              {"systemUUID", uuid},
              {"bootID", UuidOf(4'000'000 + index)},
              {"kernelVersion", "6.1.0-28-cloud-amd64"},
              {"osImage", "Debian GNU/Linux 12 (bookworm)"},
              {"containerRuntimeVersion", "containerd://1.7.24"},
              {"kubeletVersion", "v1.36.3"},
              {"kubeProxyVersion", ""},
              {"operatingSystem", "linux"},
              {"architecture", "amd64"}}},
            {"images", Images(index)}}}};
}

}  // namespace otc::kubesim
