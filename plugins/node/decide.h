// From what was read to what is said about a Node. Pure: no host, no clock.
//
// The safe reading is UNKNOWN. GONE needs the service's own word for one server,
// from a GET of this very call; a list never proves absence.
#ifndef OTC_PLUGINS_NODE_DECIDE_H_
#define OTC_PLUGINS_NODE_DECIDE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "otc/cpp/status.h"
#include "otc/plugin/v1/cloud.pb.h"
#include "otc/plugin/v1/instances.pb.h"
#include "plugins/node/server.h"
#include "plugins/node/settings.h"

namespace otc::node {

namespace pb = otc::plugin::v1;

// Reasons of results and events; README.md explains each.
inline constexpr char kForeignProviderId[] = "ForeignProviderID";
inline constexpr char kMalformedProviderId[] = "MalformedProviderID";
inline constexpr char kServerGone[] = "ServerGone";
inline constexpr char kServerNotFound[] = "ServerNotFound";
inline constexpr char kAmbiguousName[] = "AmbiguousServerName";
inline constexpr char kServerNotActive[] = "ServerNotActive";
inline constexpr char kBadServerData[] = "BadServerData";
inline constexpr char kBadCloudAnswer[] = "BadCloudAnswer";
inline constexpr char kCloudUnreachable[] = "CloudUnreachable";
inline constexpr char kAccessDenied[] = "AccessDenied";
inline constexpr char kThrottled[] = "CloudThrottled";
inline constexpr char kNotProven[] = "AbsenceNotProven";
inline constexpr char kCloudError[] = "CloudError";
inline constexpr char kLookupLimit[] = "LookupLimit";
inline constexpr char kInvalidZone[] = "InvalidZoneLabel";
inline constexpr char kInvalidRegion[] = "InvalidRegionLabel";
inline constexpr char kInvalidType[] = "InvalidInstanceTypeLabel";
inline constexpr char kNoAddressInNetwork[] = "NoAddressInNetwork";
inline constexpr char kUnreadableAddress[] = "UnreadableAddress";

struct Verdict {
  pb::InstanceDescribeResult result;
  std::vector<pb::EventRecord> events;  // what kept parts of the metadata back
};

// `observed_unix_ms`: no later than the moment at which the cloud was read.
Verdict Found(const pb::Node& node, const Server& server, const Settings& settings,
              bool want_metadata, std::int64_t observed_unix_ms);
Verdict Unknown(const pb::Node& node, const std::string& reason, const std::string& message,
                std::int64_t observed_unix_ms);
Verdict Unknown(const pb::Node& node, const Status& why, std::int64_t observed_unix_ms);
// Not ours, or not readable as ours: left alone for ever.
Verdict Foreign(const pb::Node& node, bool malformed, std::int64_t observed_unix_ms);

// The answer to GET …/cloudservers/<id>, read at `observed_unix_ms` and not from a
// cache, about a Node whose providerID names that server.
Verdict FromGet(const pb::Node& node, const std::string& server_id,
                const pb::CloudResponse& response, const Settings& settings, bool want_metadata,
                std::int64_t observed_unix_ms);

// Whether the service itself (not the gateway in front of it) says that it has no
// such server.
bool ProvesAbsence(const pb::CloudResponse& response);

// Why an answer cannot be used; OK for a 2xx.
Status AnswerProblem(const pb::CloudResponse& response);

// The server among `named`, all of whose names equal the node's, that is the
// node's: the only one, or the one whose id is the node's system UUID. Null with
// a reason otherwise. Deleted ones must not be among them.
struct NameMatch {
  const Server* server = nullptr;
  std::string reason;
  std::string message;
};
NameMatch MatchByName(const pb::Node& node, const std::vector<const Server*>& named);

}  // namespace otc::node

#endif  // OTC_PLUGINS_NODE_DECIDE_H_
