#include "plugins/node/provider_id.h"

#include <cctype>

namespace otc::node {
namespace {

constexpr std::string_view kScheme = "otc://";

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool fine = dash ? text[i] == '-' : std::isxdigit(static_cast<unsigned char>(text[i]));
    if (!fine) return false;
  }
  return true;
}

ProviderId ParseProviderId(std::string_view text) {
  if (text.empty()) return {};
  if (text.substr(0, kScheme.size()) != kScheme) return {ProviderIdKind::kForeign, ""};
  std::string_view id = text.substr(kScheme.size());
  if (!id.empty() && id.front() == '/') id.remove_prefix(1);
  if (!IsUuid(id)) return {ProviderIdKind::kMalformed, ""};
  return {ProviderIdKind::kOurs, LowerCase(id)};
}

std::string FormatProviderId(std::string_view server_id) {
  return "otc:///" + LowerCase(server_id);
}

}  // namespace otc::node
