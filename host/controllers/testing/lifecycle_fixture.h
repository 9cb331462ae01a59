// LifecycleFixture: a NodeLifecycleController with the stock behaviour and one
// with the guard's defaults, driven pass by pass.
#ifndef OTC_HOST_CONTROLLERS_TESTING_LIFECYCLE_FIXTURE_H_
#define OTC_HOST_CONTROLLERS_TESTING_LIFECYCLE_FIXTURE_H_

#include <chrono>
#include <string>
#include <vector>

#include "host/controllers/lifecycle_controller.h"
#include "host/controllers/testing/controller_fixture.h"

namespace otc::host {

inline LifecycleOptions StockLifecycle() {
  LifecycleOptions options;
  options.recheck_max = Duration::zero();
  options.guard = DeletionGuardOptions::Stock();
  return options;
}

class LifecycleFixture : public ControllerFixture {
 protected:
  // A node with its server, in the cluster for a day.
  kube::Node Join(const std::string& name, kube::Tristate ready) {
    kube::Node node = MakeNode(name);
    node.meta.creation_unix_ms = UnixMillis(clock_.Wall() - std::chrono::hours(24));
    node.provider_id = Id(name);
    node.ready = ready;
    instances_.Set(Id(name), RunningServer(Id(name)));
    api_.PutNode(node);
    api_.ClearCalls();
    return node;
  }
  void SetReady(const std::string& name, kube::Tristate ready) {
    kube::Node node = Stored(name);
    node.ready = ready;
    api_.PutNode(node);
  }
  // One pass of a controller, then the pause that follows it.
  void Pass(NodeLifecycleController& controller) {
    controller.RunPass(controller.Context());
    clock_.Advance(std::chrono::seconds(5));
  }
  void Passes(NodeLifecycleController& controller, Duration time) {
    const MonoTime end = clock_.Now() + time;
    while (clock_.Now() < end) Pass(controller);
  }
  std::vector<std::string> Reasons() {
    std::vector<std::string> reasons;
    for (const auto& event : events_.Events()) reasons.push_back(event.reason);
    return reasons;
  }

  NodeLifecycleController stock_{Deps(), StockLifecycle()};
  NodeLifecycleController guarded_{Deps(), LifecycleOptions{}};
};

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_TESTING_LIFECYCLE_FIXTURE_H_
