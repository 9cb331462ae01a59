// ResourceInfo: the resources that the simulator serves.
#ifndef OTC_TESTS_SIM_KUBE_RESOURCES_H_
#define OTC_TESTS_SIM_KUBE_RESOURCES_H_

#include <string>
#include <string_view>
#include <vector>

namespace otc::kubesim {

struct MessageType;  // schema.h

struct ResourceInfo {
  std::string group{};  // "" is the core group
  std::string version{};
  std::string plural{};
  std::string singular{};
  std::string kind{};
  bool namespaced = false;
  bool has_status = false;
  std::vector<std::string> short_names{};
  // Field labels that selectors may use beside metadata.name and .namespace.
  std::vector<std::string> field_labels{};
  // Types, protobuf numbers and merge keys; null: only JSON, and untyped.
  const MessageType* schema = nullptr;
  // Served by POST alone and never stored (reviews).
  bool review = false;

  std::string GroupVersion() const { return group.empty() ? version : group + "/" + version; }
  // "nodes", "leases.coordination.k8s.io": as in messages of the real server, and
  // the key of the storage.
  std::string QualifiedName() const { return group.empty() ? plural : plural + "." + group; }
};

const std::vector<ResourceInfo>& AllResources();
// Null: not served.
const ResourceInfo* FindResource(std::string_view group, std::string_view version,
                                 std::string_view plural);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_RESOURCES_H_
