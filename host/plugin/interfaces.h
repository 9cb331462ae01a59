// The interfaces that this host knows and how it treats them. Their layout is
// judged by sdk/inspect/descriptor.h; others are listed as unknown and never
// touched. Plain data; any thread.
#ifndef OTC_HOST_PLUGIN_INTERFACES_H_
#define OTC_HOST_PLUGIN_INTERFACES_H_

#include <string_view>

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
  bool exclusive;  // one plugin of a process may offer it
  bool served;     // this release calls it; otherwise it is only checked
};

// Null: not known.
const KnownInterface* FindInterface(std::string_view id);

// The table of interface `id` in an accepted descriptor; null: not offered.
const void* FindTable(const otc_plugin& descriptor, std::string_view id);

inline std::string_view ToView(const otc_str& text) {
  return text.ptr == nullptr ? std::string_view() : std::string_view(text.ptr, text.len);
}
inline otc_str ToAbi(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_INTERFACES_H_
