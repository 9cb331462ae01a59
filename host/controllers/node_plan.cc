#include "host/controllers/node_plan.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "host/controllers/node_addresses.h"
#include "host/controllers/node_names.h"

namespace otc::host {
namespace {

struct LabelPair {
  const char* beta;
  const char* ga;
};

constexpr std::array<LabelPair, 3> kLabelPairs = {{
    {kLabelZoneBeta, kLabelZone},
    {kLabelRegionBeta, kLabelRegion},
    {kLabelInstanceTypeBeta, kLabelInstanceType},
}};

bool Differs(const kube::Node& node, const std::string& key, const std::string& value) {
  const auto it = node.meta.labels.find(key);
  return it == node.meta.labels.end() || it->second != value;
}

// Both labels of each pair as the cloud says; `unusable` takes values that no
// label can hold (an availability zone with a blank).
LabelMap CloudLabels(const plugin::v1::InstanceMetadata& metadata,
                     std::vector<std::string>* unusable) {
  const std::array<const std::string*, 3> values = {&metadata.zone(), &metadata.region(),
                                                    &metadata.instance_type()};
  LabelMap labels;
  for (std::size_t i = 0; i < kLabelPairs.size(); ++i) {
    const std::string& value = *values[i];
    if (value.empty()) continue;
    if (!IsValidLabelValue(value)) {
      if (unusable != nullptr) unusable->push_back(std::string(kLabelPairs[i].ga) + "=" + value);
      continue;
    }
    labels[kLabelPairs[i].beta] = value;
    labels[kLabelPairs[i].ga] = value;
  }
  return labels;
}

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool IsShutdownTaint(const kube::Taint& taint) {
  return taint.key == kTaintShutdown && taint.effect == kEffectNoSchedule;
}

void AddAdditionalLabels(const kube::Node& node, const plugin::v1::InstanceMetadata& metadata,
                         InitializationPlan* plan) {
  for (const auto& [key, value] : metadata.additional_labels()) {
    if (IsReservedLabel(key) || node.meta.labels.count(key) != 0) continue;
    if (IsValidLabelValue(value)) {
      plan->labels.emplace(key, value);
    } else {
      plan->unusable.push_back(key + "=" + value);
    }
  }
}

}  // namespace

bool HasTaint(const kube::Node& node, std::string_view key) {
  return std::any_of(node.taints.begin(), node.taints.end(),
                     [&](const kube::Taint& taint) { return taint.key == key; });
}

bool IsUninitialized(const kube::Node& node) { return HasTaint(node, kTaintUninitialized); }

Result<InitializationPlan> PlanInitialization(const kube::Node& node,
                                              const plugin::v1::InstanceMetadata& metadata) {
  InitializationPlan plan;
  if (node.provider_id.empty()) {
    if (metadata.provider_id().empty()) {
      return Status(Code::kFailedPrecondition, "NoProviderId",
                    "neither the node nor the cloud has a providerID for it");
    }
    plan.provider_id = metadata.provider_id();
  }
  const auto provided = node.meta.annotations.find(kAnnotationProvidedNodeIp);
  if (provided != node.meta.annotations.end()) {
    const auto addresses = FilterByProvidedIp(provided->second, CloudAddresses(metadata));
    if (!addresses.ok()) return addresses.status();
  }
  for (const auto& [key, value] : CloudLabels(metadata, &plan.unusable)) {
    if (Differs(node, key, value)) plan.labels.emplace(key, value);
  }
  AddAdditionalLabels(node, metadata, &plan);
  std::copy_if(node.taints.begin(), node.taints.end(), std::back_inserter(plan.taints),
               [](const kube::Taint& taint) { return taint.key != kTaintUninitialized; });
  return plan;
}

LabelMap PlanLabelReconciliation(const kube::Node& node) {
  LabelMap labels;
  for (const auto& [beta, ga] : kLabelPairs) {
    const auto it = node.meta.labels.find(beta);
    if (it != node.meta.labels.end() && Differs(node, ga, it->second)) {
      labels.emplace(ga, it->second);
    }
  }
  return labels;
}

LabelMap PlanLabelCorrection(const kube::Node& node, const plugin::v1::InstanceMetadata& metadata) {
  LabelMap labels;
  for (const auto& [key, value] : CloudLabels(metadata, nullptr)) {
    if (Differs(node, key, value)) labels.emplace(key, value);
  }
  return labels;
}

bool IsReservedLabel(std::string_view key) {
  for (const std::string_view domain : {"kubernetes.io/", "k8s.io/"}) {
    for (std::size_t at = key.find(domain); at != std::string_view::npos;
         at = key.find(domain, at + 1)) {
      if (at == 0 || key[at - 1] == '.') return true;
    }
  }
  return false;
}

bool IsValidLabelValue(std::string_view value) {
  if (value.empty()) return true;
  if (value.size() > 63 || !IsNameChar(value.front()) || !IsNameChar(value.back())) return false;
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return IsNameChar(c) || c == '-' || c == '_' || c == '.'; });
}

bool HasShutdownTaint(const kube::Node& node) {
  return std::any_of(node.taints.begin(), node.taints.end(), IsShutdownTaint);
}

std::vector<kube::Taint> WithShutdownTaint(std::vector<kube::Taint> taints) {
  if (std::none_of(taints.begin(), taints.end(), IsShutdownTaint)) {
    taints.push_back({kTaintShutdown, "", kEffectNoSchedule, ""});
  }
  return taints;
}

std::vector<kube::Taint> WithoutShutdownTaint(std::vector<kube::Taint> taints) {
  taints.erase(std::remove_if(taints.begin(), taints.end(), IsShutdownTaint), taints.end());
  return taints;
}

}  // namespace otc::host
