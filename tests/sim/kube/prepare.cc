#include "tests/sim/kube/prepare.h"

#include <random>

#include "host/base/strings.h"
#include "tests/sim/kube/service_defaults.h"

namespace otc::kubesim {
namespace {

constexpr char kNotReadyTaint[] = "node.kubernetes.io/not-ready";

std::string GenerateName(std::string base) {
  static constexpr char kAlphabet[] = "bcdfghjklmnpqrstvwxz2456789";
  std::random_device random;
  if (base.size() > 58) {
    base.resize(58);
  }
  for (int i = 0; i < 5; ++i) {
    base.push_back(kAlphabet[random() % (sizeof(kAlphabet) - 1)]);
  }
  return base;
}

void DefaultNode(Json& document, bool not_ready_taint) {
  if (Find(document, {"status", "allocatable"}) == nullptr) {
    if (const Json* capacity = Find(document, {"status", "capacity"})) {
      const Json copy = *capacity;
      document["status"]["allocatable"] = copy;
    }
  }
  if (!not_ready_taint) {
    return;
  }
  Json& taints = ObjectAt(document, "spec")["taints"];
  if (!taints.is_array()) {
    taints = Json::array();
  }
  for (const Json& taint : taints) {
    if (TextAt(taint, {"key"}) == kNotReadyTaint && TextAt(taint, {"effect"}) == "NoSchedule") {
      return;
    }
  }
  taints.push_back({{"key", kNotReadyTaint}, {"effect", "NoSchedule"}});
}

void DefaultNamespace(Json& document) {
  document["metadata"]["labels"]["kubernetes.io/metadata.name"] =
      TextAt(document, {"metadata", "name"});
  ObjectAt(document, "spec")["finalizers"] = Json::array({"kubernetes"});
  ObjectAt(document, "status")["phase"] = "Active";
}

void DefaultEvent(Json& document) {
  for (const char* time : {"eventTime", "firstTimestamp", "lastTimestamp"}) {
    if (!document.contains(time)) {
      document[time] = nullptr;
    }
  }
  for (const char* text : {"reportingComponent", "reportingInstance"}) {
    if (!document.contains(text)) {
      document[text] = "";
    }
  }
}

// Fields of a feature that is off in the real server, too.
void DropCoordination(Json& document) {
  Json& spec = ObjectAt(document, "spec");
  spec.erase("strategy");
  spec.erase("preferredHolder");
}

void KeepFromOld(const Json& old_document, Json& document, const char* field) {
  const auto found = old_document.find(field);
  if (found == old_document.end()) {
    document.erase(field);
  } else {
    document[field] = *found;
  }
}

void FillMetaFromOld(const Json& old_document, Json& document) {
  const Json& old_meta = old_document["metadata"];
  Json& meta = ObjectAt(document, "metadata");
  // Nobody can change when it was created and when it began to go.
  for (const char* field :
       {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    meta[field] = old_meta.value(field, Json());
  }
  for (const char* field : {"uid", "managedFields", "generation"}) {
    const Json* sent = Find(meta, {field});
    const bool empty = sent == nullptr || (sent->is_string() && sent->empty()) ||
                       (sent->is_array() && sent->empty());
    const auto kept = old_meta.find(field);
    if (empty && kept != old_meta.end()) {
      meta[field] = *kept;
    } else if (empty) {
      meta.erase(field);
    }
  }
  meta.erase("selfLink");
}

}  // namespace

void FillMessages(const MessageType& type, Json& document) {
  // Of these two the API prints every field, also when nobody has set it.
  const bool prints_zeros = type.name == "NodeSystemInfo" || type.name == "DaemonEndpoint";
  for (const FieldInfo& field : type.fields) {
    if (field.shape != Shape::kAlways) {
      continue;
    }
    if (field.type == FieldType::kMessage) {
      FillMessages(*field.message, ObjectAt(document, field.name));
    } else if (prints_zeros && !document.contains(std::string(field.name))) {
      document[std::string(field.name)] = field.type == FieldType::kString ? Json("") : Json(0);
    }
  }
}

void DropEmpties(Json& document) {
  for (auto entry = document.begin(); entry != document.end();) {
    // These two print as null when unset, even from the real server.
    const bool kept = entry.key() == "eventTime" || entry.key() == "creationTimestamp";
    const Json& value = entry.value();
    const bool empty = (value.is_object() || value.is_array()) && value.empty();
    if (!kept && (value.is_null() || empty)) {
      entry = document.erase(entry);
    } else {
      ++entry;
    }
  }
}

void PrepareCreate(const ResourceInfo& resource, const WriteContext& context, Json& document) {
  document["apiVersion"] = resource.GroupVersion();
  document["kind"] = resource.kind;
  Json& meta = ObjectAt(document, "metadata");
  if (TextAt(meta, {"name"}).empty() && !TextAt(meta, {"generateName"}).empty()) {
    meta["name"] = GenerateName(TextAt(meta, {"generateName"}));
  }
  for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
                            "managedFields", "resourceVersion"}) {
    meta.erase(field);
  }
  meta["uid"] = host::RandomUuid();
  meta["creationTimestamp"] = context.now;
  if (resource.kind == "Node") {
    DefaultNode(document, context.not_ready_taint);
  } else if (resource.kind == "Namespace") {
    DefaultNamespace(document);
  } else if (resource.kind == "Event") {
    DefaultEvent(document);
  } else if (resource.kind == "Lease") {
    DropCoordination(document);
  } else if (resource.kind == "Service") {
    document.erase("status");
    DefaultService(document);
  }
  DropEmpties(document["metadata"]);
  FillMessages(*resource.schema, document);
}

void PrepareUpdate(const ResourceInfo& resource, const WriteContext& context,
                   const Json& old_document, Json& document) {
  document["apiVersion"] = resource.GroupVersion();
  document["kind"] = resource.kind;
  FillMetaFromOld(old_document, document);
  if (context.subresource == "status") {
    // Everything but status and metadata stays as it was.
    for (const auto& [key, value] : old_document.items()) {
      if (key != "metadata" && key != "status") {
        document[key] = value;
      }
    }
    if (!old_document.contains("spec")) {
      document.erase("spec");
    }
  } else if (resource.has_status) {
    KeepFromOld(old_document, document, "status");
  }
  if (resource.kind == "Service") {
    if (context.subresource.empty()) {
      KeepServiceAllocations(old_document, document);
      DefaultService(document);
    }
    DefaultServiceStatus(document);
  }
  DropEmpties(document["metadata"]);
  for (const char* part : {"spec", "status"}) {
    if (document.contains(part) && document[part].is_object()) {
      DropEmpties(document[part]);
    }
  }
  if (resource.kind == "Event") {
    DefaultEvent(document);
  } else if (resource.kind == "Lease") {
    DropCoordination(document);
  }
  FillMessages(*resource.schema, document);
}

void TrackManager(const ResourceInfo& resource, const WriteContext& context, Json& document) {
  Json& managed = document["metadata"]["managedFields"];
  if (!managed.is_array()) {
    managed = Json::array();
  }
  Json* entry = nullptr;
  for (Json& each : managed) {
    if (TextAt(each, {"manager"}) == context.field_manager &&
        TextAt(each, {"subresource"}) == context.subresource) {
      entry = &each;
    }
  }
  if (entry == nullptr) {
    managed.push_back({{"manager", context.field_manager},
                       {"operation", "Update"},
                       {"apiVersion", resource.GroupVersion()},
                       {"fieldsType", "FieldsV1"},
                       {"fieldsV1", Json::object()}});
    entry = &managed.back();
    if (!context.subresource.empty()) {
      (*entry)["subresource"] = context.subresource;
    }
  }
  (*entry)["time"] = context.now;
}

}  // namespace otc::kubesim
