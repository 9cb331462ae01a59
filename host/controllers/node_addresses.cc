#include "host/controllers/node_addresses.h"

#include <arpa/inet.h>

#include <algorithm>
#include <map>
#include <set>

#include "host/base/strings.h"
#include "host/controllers/node_names.h"

namespace otc::host {
namespace {

constexpr char kHostname[] = "Hostname";

std::optional<std::array<std::uint8_t, 4>> ParseV4(std::string_view text) {
  const std::vector<std::string> parts = Split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  std::array<std::uint8_t, 4> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto value = ParseUint(parts[i]);
    if (!value || *value > 255) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(*value);
  }
  return bytes;
}

bool IsMappedV4(const std::array<std::uint8_t, 16>& bytes) {
  return std::all_of(bytes.begin(), bytes.begin() + 10, [](std::uint8_t b) { return b == 0; }) &&
         bytes[10] == 0xff && bytes[11] == 0xff;
}

Status Invalid(const std::string& annotation, const std::string& why) {
  return Status(Code::kInvalidArgument, "ProvidedNodeIpInvalid",
                "annotation " + std::string(kAnnotationProvidedNodeIp) + "=\"" + annotation +
                    "\" (kubelet --node-ip) " + why +
                    "; allowed are one IP address or an IPv4 and an IPv6 address with a comma "
                    "between them and no blanks");
}

Result<std::vector<IpAddress>> ParseProvidedIps(const std::string& annotation) {
  std::vector<IpAddress> ips;
  for (const std::string& part : Split(annotation, ',')) {
    const auto ip = ParseIp(part);
    if (!ip) return Invalid(annotation, "holds \"" + part + "\", which is no IP address");
    ips.push_back(*ip);
  }
  if (ips.size() > 2) return Invalid(annotation, "holds more than two addresses");
  if (ips.size() == 2) {
    if (ips[0].is_v4 == ips[1].is_v4) {
      return Invalid(annotation, "holds two addresses of one family");
    }
    if (ips[0].IsUnspecified() || ips[1].IsUnspecified()) {
      return Invalid(annotation, "holds an unspecified address in a pair");
    }
  }
  return ips;
}

std::string Describe(const AddressList& addresses) {
  std::vector<std::string> parts;
  for (const auto& address : addresses) parts.push_back(address.type + " " + address.address);
  return parts.empty() ? "none" : Join(parts, ", ");
}

std::map<std::string, std::vector<std::string>> ByType(const AddressList& addresses) {
  std::map<std::string, std::vector<std::string>> by_type;
  for (const auto& address : addresses) by_type[address.type].push_back(address.address);
  return by_type;
}

}  // namespace

bool IpAddress::IsUnspecified() const {
  const auto first = is_v4 ? bytes.begin() + 12 : bytes.begin();
  return std::all_of(first, bytes.end(), [](std::uint8_t b) { return b == 0; });
}

std::optional<IpAddress> ParseIp(std::string_view text) {
  IpAddress ip;
  if (const auto v4 = ParseV4(text)) {
    ip.bytes[10] = ip.bytes[11] = 0xff;
    std::copy(v4->begin(), v4->end(), ip.bytes.begin() + 12);
    ip.is_v4 = true;
    return ip;
  }
  const std::string copy(text);
  if (copy.find('\0') != std::string::npos) return std::nullopt;
  if (inet_pton(AF_INET6, copy.c_str(), ip.bytes.data()) != 1) return std::nullopt;
  ip.is_v4 = IsMappedV4(ip.bytes);
  return ip;
}

AddressList CloudAddresses(const plugin::v1::InstanceMetadata& metadata) {
  AddressList list;
  for (const auto& address : metadata.addresses()) {
    kube::NodeAddress entry{address.type(), address.address()};
    if (std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(entry);
  }
  return list;
}

Result<AddressList> FilterByProvidedIp(const std::string& annotation, const AddressList& cloud) {
  const Result<std::vector<IpAddress>> ips = ParseProvidedIps(annotation);
  if (!ips.ok()) return ips.status();
  AddressList wanted;
  std::set<std::string> matched_types;
  for (const IpAddress& ip : *ips) {
    const std::size_t before = wanted.size();
    for (const auto& address : cloud) {
      const auto cloud_ip = ParseIp(address.address);
      if (!cloud_ip || !(*cloud_ip == ip)) continue;
      wanted.push_back(address);
      matched_types.insert(address.type);
    }
    if (wanted.size() == before) {
      return Status(Code::kFailedPrecondition, "ProvidedNodeIpUnknown",
                    "the kubelet asks for node IP \"" + annotation +
                        "\" (--node-ip), but the cloud's addresses of this server are " +
                        Describe(cloud));
    }
  }
  for (const auto& address : cloud) {
    if (matched_types.count(address.type) == 0) wanted.push_back(address);
  }
  return wanted;
}

Result<AddressList> WantedAddresses(const kube::Node& node, const AddressList& cloud) {
  if (cloud.empty()) return AddressList();
  AddressList all = cloud;
  const auto is_hostname = [](const kube::NodeAddress& a) { return a.type == kHostname; };
  if (std::none_of(all.begin(), all.end(), is_hostname)) {
    std::copy_if(node.addresses.begin(), node.addresses.end(), std::back_inserter(all),
                 is_hostname);
  }
  const auto provided = node.meta.annotations.find(kAnnotationProvidedNodeIp);
  if (provided == node.meta.annotations.end()) return all;
  return FilterByProvidedIp(provided->second, all);
}

bool AddressesDiffer(const AddressList& current, const AddressList& wanted) {
  return ByType(current) != ByType(wanted);
}

}  // namespace otc::host
