// The plugin's three questions to ECS, each one GET. No decisions here.
//
// A value for one describe call; remembers nothing. Blocks in the host's exchange.
#ifndef OTC_PLUGINS_NODE_CLOUD_READER_H_
#define OTC_PLUGINS_NODE_CLOUD_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "otc/cpp/host.h"
#include "otc/plugin/v1/cloud.pb.h"

namespace otc::node {

// Servers asked for at once by one exchange.
inline constexpr std::uint32_t kMaxParallel = 8;

class CloudReader {
 public:
  CloudReader(const Host& host, const Call& call) : host_(host), call_(call) {}

  // Page `page` (from 1) of all servers, or of those whose name contains `name`.
  Result<plugin::v1::CloudResponse> ListPage(std::uint32_t page, std::uint32_t limit,
                                             const std::string& name,
                                             std::uint32_t max_age_ms) const;

  // One answer for each id, in order.
  Result<std::vector<plugin::v1::CloudResponse>> GetServers(const std::vector<std::string>& ids,
                                                            const char* purpose,
                                                            std::uint32_t max_age_ms) const;

 private:
  const Host& host_;
  const Call& call_;
};

}  // namespace otc::node

#endif  // OTC_PLUGINS_NODE_CLOUD_READER_H_
