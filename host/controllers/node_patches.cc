#include "host/controllers/node_patches.h"

#include <Poco/JSON/Array.h>
#include <Poco/JSON/Object.h>

#include <sstream>

#include "host/base/strings.h"

namespace otc::host {
namespace {

using Poco::JSON::Array;
using Poco::JSON::Object;

std::string Print(const Object& object) {
  std::ostringstream out;
  object.stringify(out);
  return out.str();
}

Object::Ptr LabelsJson(const LabelMap& labels) {
  Object::Ptr json = new Object;
  for (const auto& [key, value] : labels) json->set(key, ReplaceInvalidUtf8(value));
  return json;
}

Array::Ptr TaintsJson(const std::vector<kube::Taint>& taints) {
  Array::Ptr json = new Array;
  for (const kube::Taint& taint : taints) {
    Object::Ptr entry = new Object;
    entry->set("key", taint.key);
    entry->set("effect", taint.effect);
    if (!taint.value.empty()) entry->set("value", taint.value);
    if (!taint.time_added.empty()) entry->set("timeAdded", taint.time_added);
    json->add(entry);
  }
  return json;
}

}  // namespace

std::string InitializationPatch(const InitializationPlan& plan,
                                const std::string& resource_version) {
  Object::Ptr metadata = new Object;
  metadata->set("resourceVersion", resource_version);
  if (!plan.labels.empty()) metadata->set("labels", LabelsJson(plan.labels));
  Object::Ptr spec = new Object;
  if (!plan.provider_id.empty()) spec->set("providerID", plan.provider_id);
  spec->set("taints", TaintsJson(plan.taints));
  Object patch;
  patch.set("metadata", metadata);
  patch.set("spec", spec);
  return Print(patch);
}

std::string LabelsPatch(const LabelMap& labels) {
  Object::Ptr metadata = new Object;
  metadata->set("labels", LabelsJson(labels));
  Object patch;
  patch.set("metadata", metadata);
  return Print(patch);
}

std::string TaintsPatch(const std::vector<kube::Taint>& taints,
                        const std::string& resource_version) {
  Object::Ptr metadata = new Object;
  metadata->set("resourceVersion", resource_version);
  Object::Ptr spec = new Object;
  spec->set("taints", TaintsJson(taints));
  Object patch;
  patch.set("metadata", metadata);
  patch.set("spec", spec);
  return Print(patch);
}

std::string AddressesPatch(const AddressList& addresses) {
  Array::Ptr list = new Array;
  for (const auto& address : addresses) {
    Object::Ptr entry = new Object;
    entry->set("type", ReplaceInvalidUtf8(address.type));
    entry->set("address", ReplaceInvalidUtf8(address.address));
    list->add(entry);
  }
  Object::Ptr status = new Object;
  status->set("addresses", list);
  Object patch;
  patch.set("status", status);
  return Print(patch);
}

}  // namespace otc::host
