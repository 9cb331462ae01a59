// Which addresses of a server its Node gets, and in what order. Pure.
//
// InternalIP (IPv4 first, then IPv6), ExternalIP, Hostname. Within a kind: by the
// position in network.internalCIDRs, then those of the primary network interface;
// where the cloud does not say which one is primary, those that the Node has
// already keep their order, and new ones follow in order of appearance. So the
// order does not depend on which of the cloud's answers (list or single GET, with
// or without the primary mark) was used.
#ifndef OTC_PLUGINS_NODE_ADDRESSES_H_
#define OTC_PLUGINS_NODE_ADDRESSES_H_

#include <string>
#include <vector>

#include "otc/plugin/v1/common.pb.h"
#include "plugins/node/server.h"
#include "plugins/node/settings.h"

namespace otc::node {

struct AddressChoice {
  // Empty if the server has no internal address in the chosen network: a Node is
  // not given half of its addresses.
  std::vector<plugin::v1::NodeAddress> addresses;
  std::vector<std::string> unreadable;  // texts that are no IP address
  bool none_in_network = false;         // there are internal ones, but elsewhere
};

AddressChoice ChooseAddresses(const Server& server, const plugin::v1::Node& node,
                              const Settings& settings);

}  // namespace otc::node

#endif  // OTC_PLUGINS_NODE_ADDRESSES_H_
