#include "plugins/node/addresses.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "plugins/node/labels.h"

namespace otc::node {
namespace {

struct Candidate {
  const ServerAddress* address;
  Ip ip;
  std::size_t cidr;     // position in internalCIDRs
  std::size_t present;  // position among the Node's addresses; its size: absent
  std::size_t appearance;
};

// Position of the first CIDR that holds `ip`; 0 if there are none to choose from.
std::optional<std::size_t> CidrRank(const Ip& ip, const std::vector<Cidr>& cidrs) {
  if (cidrs.empty()) return 0;
  for (std::size_t i = 0; i < cidrs.size(); ++i) {
    if (cidrs[i].Contains(ip)) return i;
  }
  return std::nullopt;
}

std::size_t PositionIn(const plugin::v1::Node& node, const Ip& ip) {
  std::size_t position = 0;
  for (const auto& address : node.addresses()) {
    if (ParseIp(address.address()) == ip) return position;
    ++position;
  }
  return position;
}

void Sort(std::vector<Candidate>* list) {
  std::stable_sort(list->begin(), list->end(), [](const Candidate& a, const Candidate& b) {
    const auto key = [](const Candidate& c) {
      return std::make_tuple(c.ip.v6, c.cidr, !c.address->primary, c.present, c.appearance);
    };
    return key(a) < key(b);
  });
}

void Append(const char* type, const std::vector<Candidate>& from,
            std::vector<plugin::v1::NodeAddress>* to) {
  for (const Candidate& candidate : from) {
    const bool twice = std::any_of(to->begin(), to->end(), [&](const auto& other) {
      return other.type() == type && ParseIp(other.address()) == candidate.ip;
    });
    if (twice) continue;  // the API server refuses a list with a double entry
    to->emplace_back();
    to->back().set_type(type);
    to->back().set_address(candidate.address->text);
  }
}

}  // namespace

AddressChoice ChooseAddresses(const Server& server, const plugin::v1::Node& node,
                              const Settings& settings) {
  AddressChoice choice;
  std::vector<Candidate> internal;
  std::vector<Candidate> external;
  std::size_t internal_elsewhere = 0;
  for (std::size_t i = 0; i < server.addresses.size(); ++i) {
    const ServerAddress& address = server.addresses[i];
    const auto ip = ParseIp(address.text);
    if (!ip) {
      choice.unreadable.push_back(address.text);
      continue;
    }
    if (ip->v6 && !settings.ipv6) continue;
    const bool in_vpc = settings.vpc.empty() || address.vpc == settings.vpc;
    if (address.floating) {
      if (in_vpc && settings.external_ips) {
        external.push_back({&address, *ip, 0, PositionIn(node, *ip), i});
      }
      continue;
    }
    const auto rank = CidrRank(*ip, settings.internal_cidrs);
    if (!in_vpc || !rank) {
      ++internal_elsewhere;
      continue;
    }
    internal.push_back({&address, *ip, *rank, PositionIn(node, *ip), i});
  }
  choice.none_in_network = internal.empty() && internal_elsewhere > 0;
  if (internal.empty()) return choice;
  Sort(&internal);
  Sort(&external);
  Append("InternalIP", internal, &choice.addresses);
  Append("ExternalIP", external, &choice.addresses);
  if (IsHostName(server.name)) {
    choice.addresses.emplace_back();
    choice.addresses.back().set_type("Hostname");
    choice.addresses.back().set_address(server.name);
  }
  return choice;
}

}  // namespace otc::node
