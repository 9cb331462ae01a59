#include "tests/sim/kube/validation.h"

#include <set>

#include "host/base/strings.h"

namespace otc::kubesim {
namespace {

using Causes = std::vector<Cause>;

void CheckText(Causes& causes, const std::string& field, const std::string& value,
               const std::string& why) {
  if (!why.empty()) {
    causes.push_back(InvalidValue(field, value, why));
  }
}

void CheckLabels(Causes& causes, const Json& document) {
  const Json* labels = Find(document, {"metadata", "labels"});
  if (labels == nullptr) {
    return;
  }
  for (const auto& [key, value] : labels->items()) {
    CheckText(causes, "metadata.labels", key, WhyNotQualifiedName(key));
    if (value.is_string()) {
      CheckText(causes, "metadata.labels", value.get<std::string>(),
                WhyNotLabelValue(value.get<std::string>()));
    }
  }
}

void CheckAnnotations(Causes& causes, const Json& document) {
  const Json* annotations = Find(document, {"metadata", "annotations"});
  if (annotations == nullptr) {
    return;
  }
  std::size_t total = 0;
  for (const auto& [key, value] : annotations->items()) {
    // Keys may have upper case; the syntax is otherwise that of labels.
    CheckText(causes, "metadata.annotations", key, WhyNotQualifiedName(host::ToLower(key)));
    total += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  }
  constexpr std::size_t kLimit = 256 * 1024;
  if (total > kLimit) {
    causes.push_back({"FieldValueTooLong", "Too long: may not be more than 262144 bytes",
                      "metadata.annotations"});
  }
}

void CheckFinalizers(Causes& causes, const Json& document) {
  const Json* finalizers = Find(document, {"metadata", "finalizers"});
  if (finalizers == nullptr) {
    return;
  }
  for (const Json& finalizer : *finalizers) {
    if (finalizer.is_string()) {
      const std::string name = finalizer.get<std::string>();
      CheckText(causes, "metadata.finalizers", name, WhyNotQualifiedName(name));
    }
  }
}

void CheckMeta(Causes& causes, const ResourceInfo& resource, const Json& document) {
  const std::string name = TextAt(document, {"metadata", "name"});
  if (name.empty()) {
    causes.push_back(RequiredValue("metadata.name", "name or generateName is required"));
  } else if (resource.plural == "namespaces" || resource.plural == "services") {
    CheckText(causes, "metadata.name", name, WhyNotDnsLabel(name));
  } else if (resource.plural != "events") {  // names of core events are not checked
    CheckText(causes, "metadata.name", name, WhyNotSubdomain(name));
  }
  CheckLabels(causes, document);
  CheckAnnotations(causes, document);
  CheckFinalizers(causes, document);
}

void CheckImmutable(Causes& causes, const Json& old_document, const Json& document,
                    std::string_view field) {
  const Json* before = Find(old_document, {"metadata", field});
  const Json* after = Find(document, {"metadata", field});
  const Json null;
  if ((before != nullptr ? *before : null) != (after != nullptr ? *after : null)) {
    causes.push_back(
        InvalidValue("metadata." + std::string(field),
                     after != nullptr && after->is_string() ? after->get<std::string>() : "",
                     "field is immutable"));
  }
}

void CheckMetaUpdate(Causes& causes, const Json& old_document, const Json& document) {
  if (Find(old_document, {"metadata", "deletionTimestamp"}) != nullptr) {
    std::set<std::string> before;
    if (const Json* list = Find(old_document, {"metadata", "finalizers"})) {
      for (const Json& finalizer : *list) {
        before.insert(finalizer.get<std::string>());
      }
    }
    std::string added;
    if (const Json* list = Find(document, {"metadata", "finalizers"})) {
      for (const Json& finalizer : *list) {
        if (finalizer.is_string() && before.count(finalizer.get<std::string>()) == 0) {
          added += (added.empty() ? "" : ", ") + host::JsonQuote(finalizer.get<std::string>());
        }
      }
    }
    if (!added.empty()) {
      causes.push_back(ForbiddenField("metadata.finalizers",
                                      "no new finalizers can be added if the object is being "
                                      "deleted, found new finalizers []string{" +
                                          added + "}"));
    }
  }
  for (const std::string_view field : {"name", "namespace", "uid", "creationTimestamp",
                                       "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    CheckImmutable(causes, old_document, document, field);
  }
}

void CheckTaints(Causes& causes, const Json& document) {
  const Json* taints = Find(document, {"spec", "taints"});
  if (taints == nullptr) {
    return;
  }
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < taints->size(); ++i) {
    const Json& taint = (*taints)[i];
    // The real server names this path, too, although taints are in the spec.
    const std::string path = "metadata.taints[" + std::to_string(i) + "]";
    const std::string key = TextAt(taint, {"key"});
    const std::string value = TextAt(taint, {"value"});
    const std::string effect = TextAt(taint, {"effect"});
    CheckText(causes, path + ".key", key, WhyNotQualifiedName(key));
    CheckText(causes, path + ".value", value, WhyNotLabelValue(value));
    if (effect.empty()) {
      causes.push_back(RequiredValue(path + ".effect", ""));
    } else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
      causes.push_back(UnsupportedValue(path + ".effect", effect,
                                        {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
    }
    if (!seen.emplace(key, effect).second) {
      causes.push_back({"FieldValueDuplicate",
                        "Duplicate value: {\"Key\":" + host::JsonQuote(key) + ",\"Value\":" +
                            host::JsonQuote(value) + ",\"Effect\":" + host::JsonQuote(effect) +
                            ",\"TimeAdded\":null}: taints must be unique by key and effect pair",
                        path});
    }
  }
}

void CheckNodeUpdate(Causes& causes, const Json& old_document, const Json& document) {
  const Json* addresses = Find(document, {"status", "addresses"});
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; addresses != nullptr && i < addresses->size(); ++i) {
    const std::string type = TextAt((*addresses)[i], {"type"});
    const std::string address = TextAt((*addresses)[i], {"address"});
    if (!seen.emplace(type, address).second) {
      causes.push_back(DuplicateValue(
          "status.addresses[" + std::to_string(i) + "]",
          "{\"Type\":" + host::JsonQuote(type) + ",\"Address\":" + host::JsonQuote(address) + "}"));
    }
  }
  const Json* old_cidrs = Find(old_document, {"spec", "podCIDRs"});
  const Json* cidrs = Find(document, {"spec", "podCIDRs"});
  if (old_cidrs != nullptr && !old_cidrs->empty() && (cidrs == nullptr || *cidrs != *old_cidrs)) {
    causes.push_back(ForbiddenField(
        "spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid"));
  }
  const std::string old_provider = TextAt(old_document, {"spec", "providerID"});
  if (!old_provider.empty() && old_provider != TextAt(document, {"spec", "providerID"})) {
    causes.push_back(ForbiddenField(
        "spec.providerID", "node updates may not change providerID except from \"\" to valid"));
  }
}

void CheckLease(Causes& causes, const Json& document) {
  const auto duration = IntAt(document, {"spec", "leaseDurationSeconds"});
  if (duration && *duration <= 0) {
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: " + std::to_string(*duration) + ": must be greater than 0",
                      "spec.leaseDurationSeconds"});
  }
  const auto transitions = IntAt(document, {"spec", "leaseTransitions"});
  if (transitions && *transitions < 0) {
    causes.push_back(
        {"FieldValueInvalid",
         "Invalid value: " + std::to_string(*transitions) + ": must be greater than or equal to 0",
         "spec.leaseTransitions"});
  }
}

void CheckEvent(Causes& causes, const Json& document) {
  const std::string namespace_name = TextAt(document, {"metadata", "namespace"});
  const std::string about = TextAt(document, {"involvedObject", "namespace"});
  const bool new_style = Find(document, {"eventTime"}) != nullptr;
  const bool matches =
      about.empty() ? namespace_name == "default" || (new_style && namespace_name == "kube-system")
                    : new_style || about == namespace_name;
  if (!matches) {
    causes.push_back(
        InvalidValue("involvedObject.namespace", about, "does not match event.namespace"));
  }
  if (!new_style) {
    return;
  }
  const std::string controller = TextAt(document, {"reportingComponent"});
  if (controller.empty()) {
    causes.push_back(RequiredValue("reportingComponent", ""));
  }
  CheckText(causes, "reportingComponent", controller, WhyNotQualifiedName(controller));
  for (const std::string_view field : {"reportingInstance", "action", "reason"}) {
    const std::string text = TextAt(document, {field});
    if (text.empty()) {
      causes.push_back(RequiredValue(std::string(field), ""));
    } else if (text.size() > 128) {
      causes.push_back(InvalidValue(std::string(field), "", "can have at most 128 characters"));
    }
  }
  if (TextAt(document, {"message"}).size() > 1024) {
    causes.push_back(InvalidValue("message", "", "can have at most 1024 characters"));
  }
}

void CheckServiceUpdate(Causes& causes, const Json& old_document, const Json& document) {
  const bool was_balancer = TextAt(old_document, {"spec", "type"}) == "LoadBalancer";
  const bool is_balancer = TextAt(document, {"spec", "type"}) == "LoadBalancer";
  const std::string old_class = TextAt(old_document, {"spec", "loadBalancerClass"});
  const std::string new_class = TextAt(document, {"spec", "loadBalancerClass"});
  if (was_balancer && is_balancer && old_class != new_class) {
    causes.push_back(InvalidValue("spec.loadBalancerClass", new_class, "may not change once set"));
  }
  if (!is_balancer && !new_class.empty()) {
    causes.push_back(
        ForbiddenField("spec.loadBalancerClass", "may only be used when `type` is 'LoadBalancer'"));
  }
}

void CheckServiceStatus(Causes& causes, const Json& document) {
  const Json* ingress = Find(document, {"status", "loadBalancer", "ingress"});
  for (std::size_t i = 0; ingress != nullptr && i < ingress->size(); ++i) {
    const std::string path = "status.loadBalancer.ingress[" + std::to_string(i) + "]";
    const std::string mode = TextAt((*ingress)[i], {"ipMode"});
    if (!mode.empty() && TextAt((*ingress)[i], {"ip"}).empty()) {
      causes.push_back(
          ForbiddenField(path + ".ipMode", "may not be specified when `ip` is not set"));
    } else if (!mode.empty() && mode != "VIP" && mode != "Proxy") {
      causes.push_back(UnsupportedValue(path + ".ipMode", mode, {"Proxy", "VIP"}));
    }
  }
}

void CheckKind(Causes& causes, const ResourceInfo& resource, const Json& document) {
  if (resource.kind == "Node") {
    CheckTaints(causes, document);
  } else if (resource.kind == "Lease") {
    CheckLease(causes, document);
  } else if (resource.kind == "Event") {
    CheckEvent(causes, document);
  } else if (resource.kind == "Service") {
    CheckServiceStatus(causes, document);
  }
}

}  // namespace

std::vector<Cause> ValidateCreate(const ResourceInfo& resource, const Json& document) {
  Causes causes;
  CheckMeta(causes, resource, document);
  CheckKind(causes, resource, document);
  return causes;
}

std::vector<Cause> ValidateUpdate(const ResourceInfo& resource, const Json& old_document,
                                  const Json& document) {
  Causes causes;
  CheckMeta(causes, resource, document);
  CheckMetaUpdate(causes, old_document, document);
  CheckKind(causes, resource, document);
  if (resource.kind == "Node") {
    CheckNodeUpdate(causes, old_document, document);
  } else if (resource.kind == "Service") {
    CheckServiceUpdate(causes, old_document, document);
  }
  return causes;
}

}  // namespace otc::kubesim
