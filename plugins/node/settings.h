// What the node plugin reads from its configuration document.
//
//   settings:
//     network:
//       vpc: ""             # UUID: only addresses in this VPC count
//       internalCIDRs: []   # internal addresses lie in one of these; the order of
//                           # the list is the order of preference
//     ipv6: true            # report IPv6 addresses
//     externalIPs: true     # report elastic IPs as ExternalIP
//
// The region comes from the document's part "cloud". Immutable once parsed.
#ifndef OTC_PLUGINS_NODE_SETTINGS_H_
#define OTC_PLUGINS_NODE_SETTINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "otc/cpp/status.h"
#include "plugins/node/ip.h"

namespace otc::node {

struct Settings {
  std::string region;  // empty: no region label
  std::string vpc;     // lower case; empty: every VPC
  std::vector<Cidr> internal_cidrs;
  bool ipv6 = true;
  bool external_ips = true;
};

// INVALID_ARGUMENT `BadSettings` with everything that is wrong at once;
// FAILED_PRECONDITION `NotConfigured` in a role without a cloud.
Result<Settings> ParseSettings(std::string_view config);

}  // namespace otc::node

#endif  // OTC_PLUGINS_NODE_SETTINGS_H_
