// Walks the paged list of servers, one page in memory at a time.
//
// ECS v1 pages by page number, so the set may shift while it is read: a server can
// show up twice or not at all. Callers drop doubles and never conclude from a
// missing server. A page that is too large for one answer (servers with big user
// data) is read again in halves.
#ifndef OTC_PLUGINS_NODE_SERVER_LIST_H_
#define OTC_PLUGINS_NODE_SERVER_LIST_H_

#include <cstdint>
#include <functional>
#include <string>

#include "otc/cpp/status.h"
#include "otc/plugin/v1/cloud.pb.h"
#include "plugins/node/server.h"

namespace otc::node {

inline constexpr std::uint32_t kPageSize = 200;  // what the documentation advises
inline constexpr std::uint32_t kSmallestPageSize = 25;
inline constexpr std::uint32_t kMaxPages = 250;

// One page as the cloud answers it; a failed status when nothing was sent.
using ReadPage =
    std::function<Result<plugin::v1::CloudResponse>(std::uint32_t page, std::uint32_t limit)>;
// Takes the wanted servers of a page; a failed status ends the walk.
using TakeServer = std::function<Status(const Server& server)>;

struct ListWalk {
  Status status;            // OK: read to its end
  std::uint32_t pages = 0;  // answers that were read
};

// Failure: of `read` or `take`; the cloud's answer (AnswerProblem, BadCloudAnswer);
// RESOURCE_EXHAUSTED "LookupLimit" behind kMaxPages.
ListWalk WalkServers(const ReadPage& read, const Wanted& wanted, const TakeServer& take);

}  // namespace otc::node

#endif  // OTC_PLUGINS_NODE_SERVER_LIST_H_
