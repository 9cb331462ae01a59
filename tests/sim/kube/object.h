// StoredObject: one version of one API object, encoded once.
//
// Objects never change; a write makes a new one with its JSON text and its
// protobuf form, so that lists and watches of thousands of nodes only copy bytes.
#ifndef OTC_TESTS_SIM_KUBE_OBJECT_H_
#define OTC_TESTS_SIM_KUBE_OBJECT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "tests/sim/kube/json.h"
#include "tests/sim/kube/resources.h"

namespace otc::kubesim {

class StoredObject {
 public:
  // `document` must carry metadata.name; its resourceVersion is `version`.
  StoredObject(const ResourceInfo& resource, const Json& document, std::uint64_t version);
  StoredObject(const StoredObject&) = delete;
  StoredObject& operator=(const StoredObject&) = delete;

  const ResourceInfo& resource() const { return resource_; }
  const std::string& name() const { return name_; }
  const std::string& namespace_name() const { return namespace_; }
  const std::string& uid() const { return uid_; }
  std::uint64_t version() const { return version_; }
  const std::map<std::string, std::string>& labels() const { return labels_; }

  // As an item of a list: without apiVersion and kind, as the real server has it.
  const std::string& item_json() const { return item_json_; }
  // On its own.
  std::string json() const;
  // The bare protobuf message, without envelope; empty for kinds without one.
  const std::string& proto() const { return proto_; }
  Json Document() const;  // of json()

 private:
  const ResourceInfo& resource_;
  std::string name_;
  std::string namespace_;
  std::string uid_;
  std::uint64_t version_;
  std::map<std::string, std::string> labels_;
  std::string item_json_;
  std::string proto_;
};

using ObjectPtr = std::shared_ptr<const StoredObject>;

// "namespace/name", or the name alone: key and order of storage.
std::string ObjectKey(const std::string& namespace_name, const std::string& name);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_OBJECT_H_
