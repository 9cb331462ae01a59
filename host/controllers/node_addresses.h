// Which addresses a Node should have: pure functions, no I/O.
//
// The cloud's list is the truth, except that a kubelet may ask for one address
// or a pair of it (--node-ip, which arrives as an annotation). The order within
// a type matters (the first InternalIP is the primary one); the order between
// types does not, so it never causes a write by itself.
#ifndef OTC_HOST_CONTROLLERS_NODE_ADDRESSES_H_
#define OTC_HOST_CONTROLLERS_NODE_ADDRESSES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/kube/types.h"
#include "otc/plugin/v1/instances.pb.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host {

using AddressList = std::vector<kube::NodeAddress>;

// An IP address as 16 bytes; IPv4 as IPv4-mapped IPv6, so spelling is gone.
// Leading zeros of IPv4 are tolerated, blanks and zones are not.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};
  bool is_v4 = false;

  bool IsUnspecified() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};
std::optional<IpAddress> ParseIp(std::string_view text);

// The cloud's list without repetitions (the API server refuses them).
AddressList CloudAddresses(const plugin::v1::InstanceMetadata& metadata);

// `cloud` narrowed down to what the annotation asks for: the addresses equal to
// its one IP or dual-stack pair first, then those of all types that none of them
// has. INVALID_ARGUMENT (ProvidedNodeIpInvalid) if the text is no such list,
// FAILED_PRECONDITION (ProvidedNodeIpUnknown) if the cloud lacks an IP.
Result<AddressList> FilterByProvidedIp(const std::string& annotation, const AddressList& cloud);

// The addresses that `node` should have, by its annotation and the cloud's list;
// its own Hostname is kept if the cloud names none. An empty cloud list is an
// empty answer: addresses are never emptied.
Result<AddressList> WantedAddresses(const kube::Node& node, const AddressList& cloud);

// Whether `wanted` has to be written over `current`: some type has other
// addresses, or the same in another order.
bool AddressesDiffer(const AddressList& current, const AddressList& wanted);

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_NODE_ADDRESSES_H_
