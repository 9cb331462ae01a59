#include "tests/sim/kube/service_defaults.h"

#include <functional>
#include <string>

namespace otc::kubesim {
namespace {

void Default(Json& object, const char* key, const Json& value) {
  const Json* present = Find(object, {key});
  if (present == nullptr ||
      (present->is_string() && present->get_ref<const std::string&>().empty())) {
    object[key] = value;
  }
}

bool NeedsNodePorts(const Json& spec) {
  const std::string type = TextAt(spec, {"type"});
  const Json* allocate = Find(spec, {"allocateLoadBalancerNodePorts"});
  return type == "NodePort" ||
         (type == "LoadBalancer" && (allocate == nullptr || *allocate != false));
}

void DefaultPorts(Json& spec, std::size_t seed) {
  if (!spec.contains("ports") || !spec["ports"].is_array()) {
    return;
  }
  const bool node_ports = NeedsNodePorts(spec);
  for (Json& port : spec["ports"]) {
    if (!port.is_object()) {
      continue;
    }
    Default(port, "protocol", "TCP");
    Default(port, "targetPort", port.value("port", Json(0)));
    if (node_ports && IntAt(port, {"nodePort"}).value_or(0) == 0) {
      const auto number = static_cast<std::size_t>(IntAt(port, {"port"}).value_or(0));
      port["nodePort"] = 30000 + (seed + number) % 2768;
    }
  }
}

// Fields that belong to another type of Service go when the type changes.
void DropForType(const Json& old_document, Json& document) {
  Json& spec = document["spec"];
  const std::string type = TextAt(spec, {"type"});
  if (type == TextAt(old_document, {"spec", "type"})) {
    return;
  }
  if (type != "LoadBalancer") {
    spec.erase("allocateLoadBalancerNodePorts");
    spec.erase("healthCheckNodePort");
    ObjectAt(document, "status")["loadBalancer"] = Json::object();
  }
  if (type != "LoadBalancer" && type != "NodePort") {
    spec.erase("externalTrafficPolicy");
    for (Json& port : spec["ports"]) {
      if (port.is_object()) {
        port.erase("nodePort");
      }
    }
  }
}

}  // namespace

void DefaultService(Json& document) {
  Json& spec = ObjectAt(document, "spec");
  const std::size_t seed = std::hash<std::string>()(TextAt(document, {"metadata", "namespace"}) +
                                                    "/" + TextAt(document, {"metadata", "name"}));
  Default(spec, "type", "ClusterIP");
  Default(spec, "sessionAffinity", "None");
  const std::string type = TextAt(spec, {"type"});
  if (type != "ExternalName") {
    Default(spec, "clusterIP",
            "10.96." + std::to_string(seed % 255) + "." + std::to_string(1 + seed / 255 % 254));
    Default(spec, "clusterIPs", Json::array({spec["clusterIP"]}));
    Default(spec, "internalTrafficPolicy", "Cluster");
    Default(spec, "ipFamilies", Json::array({"IPv4"}));
    Default(spec, "ipFamilyPolicy", "SingleStack");
  }
  if (type == "LoadBalancer") {
    Default(spec, "allocateLoadBalancerNodePorts", true);
  }
  if (type == "LoadBalancer" || type == "NodePort") {
    Default(spec, "externalTrafficPolicy", "Cluster");
  }
  if (type == "LoadBalancer" && TextAt(spec, {"externalTrafficPolicy"}) == "Local" &&
      IntAt(spec, {"healthCheckNodePort"}).value_or(0) == 0) {
    spec["healthCheckNodePort"] = 30000 + (seed + 7) % 2768;
  }
  DefaultPorts(spec, seed);
  ObjectAt(ObjectAt(document, "status"), "loadBalancer");
}

void DefaultServiceStatus(Json& document) {
  if (Find(document, {"status", "loadBalancer", "ingress"}) == nullptr) {
    return;
  }
  for (Json& ingress : document["status"]["loadBalancer"]["ingress"]) {
    if (!TextAt(ingress, {"ip"}).empty() && Find(ingress, {"ipMode"}) == nullptr) {
      ingress["ipMode"] = "VIP";
    }
  }
}

void KeepServiceAllocations(const Json& old_document, Json& document) {
  Json& spec = ObjectAt(document, "spec");
  if (TextAt(spec, {"type"}) == "ExternalName") {
    return;
  }
  for (const char* field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    if (const Json* before = Find(old_document, {"spec", field})) {
      Default(spec, field, *before);
    }
  }
  DropForType(old_document, document);
  const Json* old_ports = Find(old_document, {"spec", "ports"});
  if (old_ports == nullptr || !spec.contains("ports") || !NeedsNodePorts(spec)) {
    return;
  }
  for (Json& port : spec["ports"]) {
    for (const Json& before : *old_ports) {
      if (IntAt(port, {"port"}) == IntAt(before, {"port"}) && before.contains("nodePort")) {
        Default(port, "nodePort", before["nodePort"]);
      }
    }
  }
}

}  // namespace otc::kubesim
