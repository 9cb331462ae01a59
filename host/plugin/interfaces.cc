#include "host/plugin/interfaces.h"

#include <algorithm>

namespace otc::host::plugin_host {
namespace {

const std::vector<KnownInterface>& All() {
  // Each later issue turns on what it serves.
  static const std::vector<KnownInterface> all = {
      {kInstancesId,
       InterfaceKind::kInstances,
       16,
       true,
       true,
       {{"describe", offsetof(otc_instances_v2_1, describe)}}},
      {"otc.load-balancer/draft-1",
       InterfaceKind::kLoadBalancer,
       40,
       true,
       false,
       {{"get", offsetof(otc_load_balancer_1, get)},
        {"ensure", offsetof(otc_load_balancer_1, ensure)},
        {"update", offsetof(otc_load_balancer_1, update)},
        {"remove", offsetof(otc_load_balancer_1, remove)}}},
      {"otc.reconciler/draft-1",
       InterfaceKind::kReconciler,
       24,
       false,
       false,
       {{"watches", offsetof(otc_reconciler_1, watches)},
        {"reconcile", offsetof(otc_reconciler_1, reconcile)}}},
      {"otc.grpc-service/draft-1", InterfaceKind::kGrpcService, 24, false, false, {}},
      {"otc.csi-controller/1", InterfaceKind::kCsiController, 24, false, false, {}},
      {"otc.csi-node/1", InterfaceKind::kCsiNode, 24, false, false, {}},
  };
  return all;
}

}  // namespace

const KnownInterface* FindInterface(std::string_view id) {
  const auto it = std::find_if(All().begin(), All().end(),
                               [&](const KnownInterface& known) { return known.id == id; });
  return it == All().end() ? nullptr : &*it;
}

}  // namespace otc::host::plugin_host
