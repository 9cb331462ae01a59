// What the plugin keeps of an ECS server, and how it is read from the answers of
// the native v1 API. Pure functions.
//
// Missing and unknown members are tolerated. A member of the wrong type makes the
// server untrusted (`fault`): nothing is concluded from it.
#ifndef OTC_PLUGINS_NODE_SERVER_H_
#define OTC_PLUGINS_NODE_SERVER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "otc/cpp/status.h"

namespace otc::node {

struct ServerAddress {
  std::string text;  // as the cloud spells it
  std::string vpc;
  bool floating = false;  // an elastic IP
  bool primary = false;   // of the primary network interface, if the cloud says so
};

struct Server {
  std::string id;  // lower case
  std::string name;
  std::string status;
  std::string flavor;
  std::string zone;
  std::vector<ServerAddress> addresses;  // in order of appearance
  std::string fault;                     // why nothing may be concluded; empty: trusted
};

struct ServerPage {
  std::size_t entries = 0;            // all, also those that were not wanted
  std::optional<std::int64_t> count;  // servers in all, as the cloud says
  std::vector<std::string> ids;       // of all entries that have one
  std::vector<Server> servers;        // the wanted ones
};

// `wanted` decides by id (lower case) and name whether an entry is kept.
// Failure: "BadCloudAnswer", the body is no list of servers.
using Wanted = std::function<bool(const std::string& id, const std::string& name)>;
Result<ServerPage> ParseServerPage(std::string_view body, const Wanted& wanted);

// The body of a single GET. Failure: "BadCloudAnswer", also when it shows another
// server than `id`.
Result<Server> ParseServer(std::string_view body, std::string_view id);

// DELETED and SOFT_DELETED: the server is listed for a while, but gone.
bool IsDeletedStatus(std::string_view status);
// Exists but does not run: SHUTOFF, SHELVED, SHELVED_OFFLOADED, PAUSED, SUSPENDED.
bool IsShutDownStatus(std::string_view status);

}  // namespace otc::node

#endif  // OTC_PLUGINS_NODE_SERVER_H_
