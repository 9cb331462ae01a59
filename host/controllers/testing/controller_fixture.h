// ControllerFixture: everything a controller works with, as fakes.
//
// The fake API server mirrors every change into the node cache, as a watch that
// is always up to date would; Unwatch() stops that.
#ifndef OTC_HOST_CONTROLLERS_TESTING_CONTROLLER_FIXTURE_H_
#define OTC_HOST_CONTROLLERS_TESTING_CONTROLLER_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "host/base/fake_clock.h"
#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/random.h"
#include "host/controllers/controller_set.h"
#include "host/controllers/node_names.h"
#include "host/controllers/testing/fake_instances.h"
#include "host/kube/testing/fake_event_recorder.h"
#include "host/kube/testing/fake_kube_api.h"
#include "host/kube/testing/fake_node_lister.h"

namespace otc::host {

// A gate that a test shuts.
class SwitchGate final : public WriteGate {
 public:
  Result<MonoTime> Admit() override {
    if (open) return until;
    return Status(Code::kFailedPrecondition, "LeaseLost", "shut by the test");
  }
  std::atomic<bool> open{true};
  MonoTime until = MonoTime::max();
};

// Lets the clock run by `step` whenever somebody waits for it, until destroyed.
class Ticker {
 public:
  Ticker(FakeClock& clock, Duration step)
      : thread_([this, &clock, step] {
          while (!done_) {
            if (clock.Waiters() > 0) clock.Advance(step);
            std::this_thread::sleep_for(std::chrono::microseconds(200));
          }
        }) {}
  ~Ticker() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

class ControllerFixture : public ::testing::Test {
 protected:
  ControllerFixture() { api_.MirrorTo(&lister_); }

  ControllerDeps Deps() {
    return {lister_, api_, events_, gate_, &instances_, clock_, random_, log_, metrics_};
  }
  CallContext Context() {
    CallContext context;
    context.clock = &clock_;
    return context;
  }

  // A node object, created now, not yet in the cluster.
  kube::Node MakeNode(const std::string& name) {
    kube::Node node;
    node.meta.name = name;
    node.meta.uid = "uid-" + name;
    node.meta.creation_unix_ms = UnixMillis(clock_.Wall());
    node.ready = kube::Tristate::kTrue;
    return node;
  }
  kube::Node MakeNewNode(const std::string& name) {
    kube::Node node = MakeNode(name);
    node.taints.push_back({kTaintUninitialized, "true", kEffectNoSchedule, ""});
    return node;
  }
  kube::Node Stored(const std::string& name) { return api_.GetNode(name, "", Context()).value(); }
  bool Exists(const std::string& name) { return !api_.NodeJson(name).empty(); }
  std::string Id(const std::string& name) { return "otc:///id-of-" + name; }

  // Calls of the API that change something.
  int Writes() {
    return static_cast<int>(api_.Calls("PatchNode").size() + api_.Calls("DeleteNode").size());
  }
  int DescribeCalls() { return static_cast<int>(instances_.Calls().size()); }

  // Waits (real time, bounded) until `condition`, letting the fake clock run in
  // steps of `step`; false: it never came true.
  bool RunUntil(const std::function<bool()>& condition, Duration step) {
    for (int i = 0; i < 5'000; ++i) {
      if (condition()) return true;
      clock_.Advance(step);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return condition();
  }

  FakeClock clock_;
  FixedRandom random_;
  MemoryLog log_;
  Metrics metrics_;
  kube::FakeNodeLister lister_;
  kube::FakeKubeApi api_;
  kube::FakeEventRecorder events_;
  SwitchGate gate_;
  FakeInstances instances_;
};

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_TESTING_CONTROLLER_FIXTURE_H_
