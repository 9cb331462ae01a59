#include "host/plugin/interfaces.h"

#include <algorithm>
#include <array>

namespace otc::host::plugin_host {
namespace {

// Each later issue turns on what it serves.
constexpr std::array<KnownInterface, 6> kKnown = {{
    {kInstancesId, InterfaceKind::kInstances, true, true},
    {"otc.load-balancer/draft-1", InterfaceKind::kLoadBalancer, true, false},
    {"otc.reconciler/draft-1", InterfaceKind::kReconciler, false, false},
    {"otc.grpc-service/draft-1", InterfaceKind::kGrpcService, false, false},
    {"otc.csi-controller/1", InterfaceKind::kCsiController, false, false},
    {"otc.csi-node/1", InterfaceKind::kCsiNode, false, false},
}};

}  // namespace

const KnownInterface* FindInterface(std::string_view id) {
  const auto it = std::find_if(kKnown.begin(), kKnown.end(),
                               [&](const KnownInterface& known) { return known.id == id; });
  return it == kKnown.end() ? nullptr : &*it;
}

const void* FindTable(const otc_plugin& descriptor, std::string_view id) {
  for (std::uint64_t i = 0; i < descriptor.interface_count; ++i) {
    if (ToView(descriptor.interfaces[i].id) == id) return descriptor.interfaces[i].table;
  }
  return nullptr;
}

}  // namespace otc::host::plugin_host
