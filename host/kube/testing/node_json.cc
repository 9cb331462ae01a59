#include "host/kube/testing/node_json.h"

#include <Poco/Exception.h>
#include <Poco/JSON/Array.h>
#include <Poco/JSON/Parser.h>

#include <sstream>

#include "host/base/clock.h"

namespace otc::host::kube {
namespace {

using Poco::Dynamic::Var;
using Poco::JSON::Array;
using Poco::JSON::Object;

bool IsObject(const Var& value) { return value.type() == typeid(Object::Ptr); }
bool IsArray(const Var& value) { return value.type() == typeid(Array::Ptr); }

// Merge key of a list of objects, empty if the list is replaced as a whole.
std::string MergeKey(const std::string& field) {
  return field == "addresses" || field == "conditions" ? "type" : "";
}

void MergeSet(Object::Ptr target, const std::string& field, const Array::Ptr& values) {
  Array::Ptr list = target->getArray(field);
  if (list.isNull()) list = new Array;
  for (const Var& value : *values) {
    bool present = false;
    for (const Var& old : *list) present = present || old.toString() == value.toString();
    if (!present) list->add(value);
  }
  target->set(field, list);
}

void RemoveFromSet(Object::Ptr target, const std::string& field, const Array::Ptr& values) {
  const Array::Ptr list = target->getArray(field);
  if (list.isNull()) return;
  Array::Ptr kept = new Array;
  for (const Var& old : *list) {
    bool removed = false;
    for (const Var& value : *values) removed = removed || old.toString() == value.toString();
    if (!removed) kept->add(old);
  }
  target->set(field, kept);
}

void MergeList(Object::Ptr target, const std::string& field, const Array::Ptr& patch) {
  const std::string key = MergeKey(field);
  Array::Ptr list = target->getArray(field);
  if (list.isNull()) list = new Array;
  Array::Ptr wanted = new Array;
  for (const Var& element : *patch) {
    const Object::Ptr object = element.extract<Object::Ptr>();
    if (!object->has("$patch")) {
      wanted->add(object);
      continue;
    }
    const std::string directive = object->getValue<std::string>("$patch");
    if (directive == "replace") {
      list = new Array;
    } else if (directive == "delete") {
      Array::Ptr kept = new Array;
      for (const Var& old : *list) {
        if (old.extract<Object::Ptr>()->optValue<std::string>(key, "") !=
            object->optValue<std::string>(key, "")) {
          kept->add(old);
        }
      }
      list = kept;
    } else {
      throw Poco::InvalidArgumentException("unknown $patch directive " + directive);
    }
  }
  // With `replace` the elements are taken as they are, duplicates of the key included.
  const bool append_only = list->size() == 0;
  for (const Var& element : *wanted) {
    const Object::Ptr object = element.extract<Object::Ptr>();
    Object::Ptr old;
    if (!append_only) {
      for (const Var& candidate : *list) {
        const Object::Ptr existing = candidate.extract<Object::Ptr>();
        if (existing->optValue<std::string>(key, "") == object->optValue<std::string>(key, "")) {
          old = existing;
          break;
        }
      }
    }
    if (old.isNull()) {
      list->add(object);
    } else {
      ApplyStrategicPatch(old, object);
    }
  }
  target->set(field, list);
}

void SetText(Object::Ptr object, const char* key, const std::string& value) {
  if (!value.empty()) object->set(key, value);
}

template <typename Map>
Object::Ptr MapOf(const Map& values) {
  Object::Ptr object = new Object;
  for (const auto& [key, value] : values) {
    const std::string& name = key;
    const std::string& text = value;
    object->set(name, text);
  }
  return object;
}

Object::Ptr MetaOf(const ObjectMeta& meta) {
  Object::Ptr object = new Object;
  SetText(object, "name", meta.name);
  SetText(object, "uid", meta.uid);
  if (meta.creation_unix_ms != 0) {
    object->set("creationTimestamp", FormatRfc3339(WallFromUnixMillis(meta.creation_unix_ms)));
  }
  if (meta.deleting) object->set("deletionTimestamp", "2026-01-01T00:00:00Z");
  if (!meta.labels.empty()) object->set("labels", MapOf(meta.labels));
  if (!meta.annotations.empty()) object->set("annotations", MapOf(meta.annotations));
  return object;
}

Object::Ptr ReadyCondition(Tristate ready) {
  Object::Ptr condition = new Object;
  condition->set("type", "Ready");
  condition->set("status", ready == Tristate::kTrue    ? "True"
                           : ready == Tristate::kFalse ? "False"
                                                       : "Unknown");
  return condition;
}

}  // namespace

Object::Ptr ParseObject(const std::string& text) {
  Poco::JSON::Parser parser;
  return parser.parse(text).extract<Object::Ptr>();
}

std::string ToJson(const Object::Ptr& object) {
  std::ostringstream out;
  object->stringify(out);
  return out.str();
}

Object::Ptr DeepCopy(const Object::Ptr& object) { return ParseObject(ToJson(object)); }

std::string NodeToJson(const Node& node) {
  Object::Ptr object = new Object;
  object->set("apiVersion", "v1");
  object->set("kind", "Node");
  object->set("metadata", MetaOf(node.meta));
  Object::Ptr spec = new Object;
  SetText(spec, "providerID", node.provider_id);
  if (!node.taints.empty()) {
    Array::Ptr taints = new Array;
    for (const Taint& taint : node.taints) {
      Object::Ptr entry = new Object;
      entry->set("key", taint.key);
      SetText(entry, "value", taint.value);
      entry->set("effect", taint.effect);
      SetText(entry, "timeAdded", taint.time_added);
      taints->add(entry);
    }
    spec->set("taints", taints);
  }
  object->set("spec", spec);
  Object::Ptr status = new Object;
  Array::Ptr addresses = new Array;
  for (const NodeAddress& address : node.addresses) {
    Object::Ptr entry = new Object;
    entry->set("type", address.type);
    entry->set("address", address.address);
    addresses->add(entry);
  }
  if (addresses->size() != 0) status->set("addresses", addresses);
  Array::Ptr conditions = new Array;
  conditions->add(ReadyCondition(node.ready));
  status->set("conditions", conditions);
  if (!node.system_uuid.empty()) {
    Object::Ptr info = new Object;
    info->set("systemUUID", node.system_uuid);
    status->set("nodeInfo", info);
  }
  object->set("status", status);
  return ToJson(object);
}

void ApplyMergePatch(Object::Ptr target, const Object::Ptr& patch) {
  for (const auto& [key, value] : *patch) {
    if (value.isEmpty()) {
      target->remove(key);
    } else if (IsObject(value)) {
      if (target->getObject(key).isNull()) target->set(key, Object::Ptr(new Object));
      ApplyMergePatch(target->getObject(key), value.extract<Object::Ptr>());
    } else {
      target->set(key, value);
    }
  }
}

void ApplyStrategicPatch(Object::Ptr target, const Object::Ptr& patch) {
  constexpr char kDeletePrefix[] = "$deleteFromPrimitiveList/";
  for (const auto& [key, value] : *patch) {
    if (key.rfind(kDeletePrefix, 0) == 0) {
      RemoveFromSet(target, key.substr(sizeof(kDeletePrefix) - 1), value.extract<Array::Ptr>());
    } else if (key.rfind("$setElementOrder/", 0) == 0) {
      continue;  // order does not matter to what is tested with this fake
    } else if (!key.empty() && key[0] == '$') {
      throw Poco::InvalidArgumentException("unknown directive " + key);
    } else if (value.isEmpty()) {
      target->remove(key);
    } else if (IsObject(value)) {
      if (target->getObject(key).isNull()) target->set(key, Object::Ptr(new Object));
      ApplyStrategicPatch(target->getObject(key), value.extract<Object::Ptr>());
    } else if (IsArray(value) && key == "finalizers") {
      MergeSet(target, key, value.extract<Array::Ptr>());
    } else if (IsArray(value) && !MergeKey(key).empty()) {
      MergeList(target, key, value.extract<Array::Ptr>());
    } else {
      target->set(key, value);
    }
  }
}

}  // namespace otc::host::kube
