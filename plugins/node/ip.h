// IP addresses and CIDRs as values. Pure functions.
#ifndef OTC_PLUGINS_NODE_IP_H_
#define OTC_PLUGINS_NODE_IP_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace otc::node {

struct Ip {
  std::array<std::uint8_t, 16> bytes{};  // IPv4: the first four
  bool v6 = false;

  friend bool operator==(const Ip&, const Ip&) = default;
};

std::optional<Ip> ParseIp(const std::string& text);

struct Cidr {
  Ip base;
  int bits = 0;

  bool Contains(const Ip& address) const;
};

// "10.0.0.0/16", "fd00::/8"; bits behind the prefix are ignored.
std::optional<Cidr> ParseCidr(const std::string& text);

}  // namespace otc::node

#endif  // OTC_PLUGINS_NODE_IP_H_
