// InstancesProvider: the node plugin as the controllers see it.
//
// The real one (host/plugin/instances_adapter.h) calls slot
// otc.instances-v2/1.describe; tests of controllers use a fake. Results arrive
// as they become known and count even if the call then fails; a node without a
// result is UNKNOWN.
#ifndef OTC_HOST_CONTROLLERS_INSTANCES_H_
#define OTC_HOST_CONTROLLERS_INSTANCES_H_

#include <functional>
#include <vector>

#include "host/base/cancellation.h"
#include "host/kube/informer.h"
#include "otc/plugin/v1/instances.pb.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host {

struct DescribeOptions {
  bool want_metadata = false;
  std::uint32_t max_age_ms = 0;  // 0: read now
};

class InstancesProvider {
 public:
  using OnResult = std::function<void(const plugin::v1::InstanceDescribeResult&)>;
  using OnEvent = std::function<void(const plugin::v1::EventRecord&)>;

  virtual ~InstancesProvider() = default;

  // Blocks. Both callbacks run on the calling thread before this returns.
  // Results are already checked: GONE without a proof newer than the request
  // arrives as UNKNOWN, a second result for a node is dropped. UNAVAILABLE with
  // reason NotStarted while the plugin does not run.
  virtual Status Describe(const std::vector<kube::NodePtr>& nodes, const DescribeOptions& options,
                          const CallContext& context, const OnResult& on_result,
                          const OnEvent& on_event) = 0;
};

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_INSTANCES_H_
