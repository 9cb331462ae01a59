// The parts of Kubernetes objects that the host keeps in memory.
//
// Informers copy the wanted fields of each decoded message into these structs
// and reuse the message: a 20 KiB Node costs a few hundred bytes. Objects in a
// cache are shared as `std::shared_ptr<const …>` and never changed. Since they
// are trimmed, nothing is ever written with PUT, only with PATCH.
#ifndef OTC_HOST_KUBE_TYPES_H_
#define OTC_HOST_KUBE_TYPES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/kube/label_map.h"

namespace otc::host::kube {

struct ObjectMeta {
  std::string name;
  std::string namespace_;  // empty for cluster-scoped kinds
  std::string uid;
  std::string resource_version;  // opaque; only ever compared for equality
  std::int64_t creation_unix_ms = 0;
  bool deleting = false;  // deletionTimestamp is set
  LabelMap labels;
  std::map<std::string, std::string> annotations;  // only those the host reads
};

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  std::string time_added;  // RFC 3339 text, empty if absent; kept as it came

  friend bool operator==(const Taint&, const Taint&) = default;
};

struct NodeAddress {
  std::string type;  // InternalIP, ExternalIP, Hostname, InternalDNS, ExternalDNS
  std::string address;

  friend bool operator==(const NodeAddress&, const NodeAddress&) = default;
};

enum class Tristate { kUnknown, kTrue, kFalse };  // a condition's status

struct Node {
  ObjectMeta meta;
  std::string provider_id;
  std::vector<Taint> taints;
  std::vector<NodeAddress> addresses;
  Tristate ready = Tristate::kUnknown;  // condition Ready; absent = kUnknown
  std::string system_uuid;
};

struct Lease {
  ObjectMeta meta;
  std::string holder;
  std::int32_t duration_seconds = 0;
  std::string acquire_time;  // MicroTime text as the server has it
  std::string renew_time;
  std::int32_t transitions = 0;
};

// What an event is about, and what a log line names.
struct ObjectReference {
  std::string api_version;
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string resource_version;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_TYPES_H_
