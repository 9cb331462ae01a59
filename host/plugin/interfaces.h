// The interfaces that this host knows: their layout, floor and rules. Others are
// listed as unknown and never touched. Plain data; any thread.
#ifndef OTC_HOST_PLUGIN_INTERFACES_H_
#define OTC_HOST_PLUGIN_INTERFACES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "otc/plugin.h"

namespace otc::host::plugin_host {

inline constexpr char kInstancesId[] = "otc.instances-v2/1";

enum class InterfaceKind {
  kInstances,
  kLoadBalancer,
  kReconciler,
  kGrpcService,
  kCsiController,
  kCsiNode,
};

struct KnownInterface {
  std::string_view id;
  InterfaceKind kind;
  std::uint32_t floor;  // smallest struct_size of the table
  bool exclusive;       // one plugin of a process may offer it
  bool served;          // this release calls it; otherwise it is only checked
  // Mandatory slots of type otc_method; gRPC services have a method list instead.
  std::vector<std::pair<std::string_view, std::size_t>> slots;
};

// Null: not known.
const KnownInterface* FindInterface(std::string_view id);

inline std::string_view ToView(const otc_str& text) {
  return text.ptr == nullptr ? std::string_view() : std::string_view(text.ptr, text.len);
}
inline otc_str ToAbi(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_INTERFACES_H_
