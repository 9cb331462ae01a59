#include "plugins/node/ip.h"

#include <arpa/inet.h>

#include <charconv>

namespace otc::node {

std::optional<Ip> ParseIp(const std::string& text) {
  Ip ip;
  if (inet_pton(AF_INET, text.c_str(), ip.bytes.data()) == 1) return ip;
  ip.v6 = true;
  if (inet_pton(AF_INET6, text.c_str(), ip.bytes.data()) == 1) return ip;
  return std::nullopt;
}

bool Cidr::Contains(const Ip& address) const {
  if (address.v6 != base.v6) return false;
  for (int bit = 0; bit < bits; ++bit) {
    const std::size_t byte = static_cast<std::size_t>(bit) / 8;
    const int mask = 0x80 >> (bit % 8);
    if ((address.bytes[byte] & mask) != (base.bytes[byte] & mask)) return false;
  }
  return true;
}

std::optional<Cidr> ParseCidr(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto base = ParseIp(text.substr(0, slash));
  if (!base) return std::nullopt;
  Cidr cidr{*base, 0};
  const char* begin = text.data() + slash + 1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, cidr.bits);
  const bool fine = error == std::errc() && stop == end && begin != end && cidr.bits >= 0 &&
                    cidr.bits <= (base->v6 ? 128 : 32);
  if (!fine) return std::nullopt;
  return cidr;
}

}  // namespace otc::node
