// Percent-encoding by RFC 3986, the one copy in the host: requests are built
// with it and signatures canonicalise with it, so both see the same bytes.
// Pure functions over bytes; UTF-8 needs no special care.
#ifndef OTC_HOST_HTTP_URL_H_
#define OTC_HOST_HTTP_URL_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace otc::host::http {

namespace url_internal {
constexpr bool IsUnreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}
constexpr int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
}  // namespace url_internal

// Every byte but A-Z a-z 0-9 - . _ ~ and those in `keep` as %XX, upper case.
inline std::string PercentEncode(std::string_view text, std::string_view keep = "") {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size() + 8);
  for (const char c : text) {
    if (url_internal::IsUnreserved(c) || keep.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

// %XX to bytes; a `%` that starts no escape stays as it is. With `plus_is_space`
// a `+` becomes a blank, as servers read query strings.
inline std::string PercentDecode(std::string_view text, bool plus_is_space = false) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = url_internal::HexValue(text[i + 1]);
      const int low = url_internal::HexValue(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += plus_is_space && text[i] == '+' ? ' ' : text[i];
  }
  return out;
}

// The path made of `segments`, each encoded: {"api", "v1", "a/b"} gives
// "/api/v1/a%2Fb". "/" if there is none.
inline std::string JoinPath(const std::vector<std::string>& segments) {
  std::string path;
  for (const auto& segment : segments) path += "/" + PercentEncode(segment);
  return path.empty() ? "/" : path;
}

// "a=1&b=x%20y", in the given order; "" if there is none. An empty value keeps
// its "=".
inline std::string BuildQuery(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string query;
  for (const auto& [name, value] : parameters) {
    if (!query.empty()) query += '&';
    query += PercentEncode(name) + "=" + PercentEncode(value);
  }
  return query;
}

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_URL_H_
