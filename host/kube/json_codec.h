// JSON of the objects that the host reads or writes: nodes, leases, Status.
//
// Reading keeps the wanted fields only (trim.h) and accepts whatever else is
// there. Errors: INVALID_ARGUMENT "BadJson" naming what was read; never throws.
#ifndef OTC_HOST_KUBE_JSON_CODEC_H_
#define OTC_HOST_KUBE_JSON_CODEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/kube/api_status.h"
#include "host/kube/types.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::kube {

Result<Node> NodeFromJson(const std::string& text);
Result<Lease> LeaseFromJson(const std::string& text);
std::string LeaseToJson(const Lease& lease);

// Nothing if `text` is not a Status object.
std::optional<ApiStatus> ApiStatusFromJson(const std::string& text);

// Metadata of a list without its items.
struct ListEnvelope {
  std::string kind;
  std::string resource_version;
  std::string continue_token;
};
Result<ListEnvelope> ListEnvelopeFromJson(const std::string& text);

// One line of a watch: its type and its object as JSON text.
struct JsonWatchEvent {
  std::string type;
  std::string kind;              // of the object
  std::string resource_version;  // of the object
  bool initial_events_end = false;
  std::string object;
};
Result<JsonWatchEvent> WatchEventFromJson(const std::string& text);

// Milliseconds of an RFC 3339 text in UTC; 0 if it is not one.
std::int64_t UnixMillisFromRfc3339(const std::string& text);

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_JSON_CODEC_H_
