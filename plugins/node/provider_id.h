// spec.providerID of our nodes: otc:///<uuid> is written, otc://<uuid> is read
// too. It never changes once it is set, so the form is final. Pure functions.
#ifndef OTC_PLUGINS_NODE_PROVIDER_ID_H_
#define OTC_PLUGINS_NODE_PROVIDER_ID_H_

#include <string>
#include <string_view>

namespace otc::node {

enum class ProviderIdKind {
  kNone,       // empty: the node is not initialised yet
  kOurs,       // names a server
  kMalformed,  // begins as ours, but names no server
  kForeign,    // somebody else's
};

struct ProviderId {
  ProviderIdKind kind = ProviderIdKind::kNone;
  std::string server_id;  // lower case; only if kOurs
};

ProviderId ParseProviderId(std::string_view text);
std::string FormatProviderId(std::string_view server_id);

// 8-4-4-4-12 hex digits, in any case.
bool IsUuid(std::string_view text);
std::string LowerCase(std::string_view text);  // ASCII only

}  // namespace otc::node

#endif  // OTC_PLUGINS_NODE_PROVIDER_ID_H_
