#include "tests/sim/otc/http_types.h"

#include "host/base/strings.h"
#include "host/http/url.h"

namespace otc::sim {

std::optional<std::string> Request::FindHeader(std::string_view name) const {
  for (const auto& header : headers) {
    if (host::EqualsIgnoreCase(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::string_view Request::RawPath() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::string_view Request::RawQuery() const {
  const auto question = target.find('?');
  return question == std::string::npos ? std::string_view()
                                       : std::string_view(target).substr(question + 1);
}

std::vector<std::pair<std::string, std::string>> Request::QueryPairs() const {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& part : host::Split(RawQuery(), '&')) {
    if (part.empty()) continue;
    const auto equals = part.find('=');
    pairs.emplace_back(host::http::PercentDecode(part.substr(0, equals), true),
                       equals == std::string::npos
                           ? ""
                           : host::http::PercentDecode(part.substr(equals + 1), true));
  }
  return pairs;
}

std::optional<std::string> Request::Query(std::string_view key) const {
  for (auto& [name, value] : QueryPairs()) {
    if (name == key) return std::move(value);
  }
  return std::nullopt;
}

}  // namespace otc::sim
