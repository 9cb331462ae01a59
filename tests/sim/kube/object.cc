#include "tests/sim/kube/object.h"

#include "tests/sim/kube/proto_encode.h"
#include "tests/sim/kube/schema.h"

namespace otc::kubesim {

StoredObject::StoredObject(const ResourceInfo& resource, const Json& document,
                           std::uint64_t version)
    : resource_(resource),
      name_(TextAt(document, {"metadata", "name"})),
      namespace_(TextAt(document, {"metadata", "namespace"})),
      uid_(TextAt(document, {"metadata", "uid"})),
      version_(version) {
  Json item = document;
  item.erase("apiVersion");
  item.erase("kind");
  item_json_ = DumpJson(item);
  if (resource.schema != &UntypedType()) {
    proto_ = EncodeMessage(*resource.schema, document);
  }
  if (const Json* labels = Find(document, {"metadata", "labels"}); labels != nullptr) {
    for (const auto& [key, value] : labels->items()) {
      if (value.is_string()) {
        labels_[key] = value.get<std::string>();
      }
    }
  }
}

std::string StoredObject::json() const {
  std::string text =
      "{\"kind\":\"" + resource_.kind + "\",\"apiVersion\":\"" + resource_.GroupVersion() + "\"";
  // Every object has metadata, so the item is never "{}".
  text.append(",").append(item_json_, 1);
  return text;
}

Json StoredObject::Document() const {
  // The text was made by DumpJson: it always parses.
  return *ParseJson(json());
}

std::string ObjectKey(const std::string& namespace_name, const std::string& name) {
  return namespace_name.empty() ? name : namespace_name + "/" + name;
}

}  // namespace otc::kubesim
