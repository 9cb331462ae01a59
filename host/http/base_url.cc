// Origin and ParseBaseUrl of client.h.
#include "host/base/strings.h"
#include "host/http/client.h"

namespace otc::host::http {
namespace {

bool IsAlnum(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

std::uint16_t DefaultPort(bool tls) { return tls ? 443 : 80; }

// What may stand in a URL's host: a DNS name, or an IPv6 address (in brackets).
bool IsHostName(std::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  for (const char c : host) {
    if (!IsAlnum(c) && c != '-' && c != '.' && c != '_') return false;
  }
  return true;
}

bool IsIpv6Text(std::string_view host) {
  if (host.find(':') == std::string_view::npos) return false;
  for (const char c : host) {
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (!hex && c != ':' && c != '.') return false;
  }
  return true;
}

Status BadUrl(std::string_view text, const std::string& why) {
  return Status(Code::kInvalidArgument, "BadUrl",
                "URL " + JsonQuote(text) + ": " + why +
                    "; allowed is http:// or https://, a host, optionally a port and a path");
}

// Fills host and port from "host", "host:port", "[v6]" or "[v6]:port"; the reason
// why not, or "".
std::string ParseAuthority(std::string_view authority, Origin& origin) {
  std::string_view host;
  std::string_view port;
  bool has_port = false;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return "the \"[\" of the address is not closed";
    host = authority.substr(1, end - 1);
    const std::string_view rest = authority.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') return "there is text behind the address's \"]\"";
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
    if (!IsIpv6Text(host)) return JsonQuote(host) + " is not an IPv6 address";
  } else {
    const std::size_t colon = authority.find(':');
    host = authority.substr(0, colon);
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
    if (host.empty()) return "the host is missing";
    if (!IsHostName(host)) return JsonQuote(host) + " is not a host name";
  }
  if (has_port) {
    const auto number = ParseUint(port);
    if (!number || *number < 1 || *number > 65535) {
      return "the port " + JsonQuote(port) + " is not a number from 1 to 65535";
    }
    origin.port = static_cast<std::uint16_t>(*number);
  }
  origin.host = ToLower(host);
  return "";
}

}  // namespace

std::string Origin::HostHeader() const {
  std::string text = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != DefaultPort(tls)) text += ":" + std::to_string(port);
  return text;
}

std::string Origin::ToString() const { return (tls ? "https://" : "http://") + HostHeader(); }

Result<BaseUrl> ParseBaseUrl(std::string_view text) {
  BaseUrl url;
  const std::size_t scheme_end = text.find("://");
  const std::string scheme =
      scheme_end == std::string_view::npos ? "" : ToLower(text.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https") {
    return BadUrl(text, scheme.empty() ? "the scheme is missing" : "the scheme is not http(s)");
  }
  url.origin.tls = scheme == "https";
  url.origin.port = DefaultPort(url.origin.tls);
  const std::string_view rest = text.substr(scheme_end + 3);
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return BadUrl(text, "a query or fragment is not allowed");
  }
  const std::size_t slash = rest.find('/');
  const std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) {
    // The text may hold a password: it is not repeated.
    return BadUrl(scheme + "://…@…", "user and password are not allowed");
  }
  if (const std::string why = ParseAuthority(authority, url.origin); !why.empty()) {
    return BadUrl(text, why);
  }
  if (slash != std::string_view::npos) url.prefix = rest.substr(slash);
  for (const char c : url.prefix) {
    if (c <= 0x20 || c == 0x7f || (c & 0x80) != 0) {
      return BadUrl(text, "the path holds a blank, control or non-ASCII character");
    }
  }
  while (!url.prefix.empty() && url.prefix.back() == '/') url.prefix.pop_back();
  return url;
}

}  // namespace otc::host::http
