// Dying after any single call, and losing the answer to any single call, must
// leave a state from which the next process finishes the job.
//
// "Dead" means: every later call of this process fails and has no effect. The
// kill points are counted in a first, undisturbed run, not written by hand.
#include <gtest/gtest.h>

#include "host/controllers/lifecycle_controller.h"
#include "host/controllers/node_initializer.h"
#include "host/controllers/node_plan.h"
#include "host/controllers/node_sync.h"
#include "host/controllers/testing/controller_fixture.h"
#include "host/kube/testing/forwarding_kube_api.h"

namespace otc::host {
namespace {

using plugin::v1::InstanceDescribeResult;
using std::chrono::seconds;

// Passes calls on until it dies: before call number `die_before`, or after call
// number `die_after` was carried out (its answer is lost then).
class MortalApi final : public kube::ForwardingKubeApi {
 public:
  using ForwardingKubeApi::ForwardingKubeApi;

  Result<kube::Node> GetNode(const std::string& name, const std::string& version,
                             const CallContext& context) override {
    return Live<Result<kube::Node>>(
        [&] { return ForwardingKubeApi::GetNode(name, version, context); });
  }
  Result<kube::Node> PatchNode(const std::string& name, kube::PatchType type,
                               const std::string& body, const std::string& subresource,
                               const CallContext& context) override {
    return Live<Result<kube::Node>>(
        [&] { return ForwardingKubeApi::PatchNode(name, type, body, subresource, context); });
  }
  Status DeleteNode(const std::string& name, const kube::DeletePreconditions& preconditions,
                    const CallContext& context) override {
    return Live<Status>(
        [&] { return ForwardingKubeApi::DeleteNode(name, preconditions, context); });
  }

  int calls = 0;
  int die_before = -1;
  int die_after = -1;
  bool dead = false;

 private:
  template <typename T, typename F>
  T Live(F call) {
    const Status gone(Code::kUnavailable, "Dead", "this process was killed");
    const int number = calls++;
    dead = dead || number == die_before;
    if (dead) return gone;
    T outcome = call();
    dead = number == die_after;
    if (dead) return gone;
    return outcome;
  }
};

class Crash : public ControllerFixture {
 protected:
  ControllerDeps DepsWith(kube::KubeApi& api) {
    return {lister_, api, events_, gate_, &instances_, clock_, random_, log_, metrics_};
  }
  InstanceDescribeResult Server(const std::string& name) {
    InstanceDescribeResult result = RunningServer(Id(name));
    result.mutable_metadata()->set_zone("z");
    result.mutable_metadata()->set_instance_type("t");
    AddAddress(result.mutable_metadata(), "InternalIP", "10.0.0.1");
    return result;
  }
};

// One process: initialises what is new, then one periodic sync.
void InitialiseAll(const ControllerDeps& deps, const CallContext& context) {
  NodeInitializer initializer(deps, NodeControllerOptions{});
  initializer.Sync({"a", "b"}, context);
  NodeSync(deps, NodeControllerOptions{}).SyncAll(context);
}

TEST_F(Crash, N34_N35_InitialisationConvergesFromEveryKillPoint) {
  const auto reset = [&] {
    for (const char* name : {"a", "b"}) {
      instances_.Set(name, Server(name));
      instances_.Set(Id(name), Server(name));
      api_.RemoveNode(name);
      api_.PutNode(MakeNewNode(name));
    }
  };
  const auto check = [&] {
    for (const char* name : {"a", "b"}) {
      const kube::Node node = Stored(name);
      EXPECT_EQ(node.provider_id, Id(name));
      EXPECT_TRUE(node.taints.empty());
      EXPECT_EQ(node.meta.labels.at(kLabelZone), "z");
      EXPECT_EQ(node.meta.labels.at(kLabelInstanceTypeBeta), "t");
      EXPECT_EQ(node.addresses, (AddressList{{"InternalIP", "10.0.0.1"}}));
    }
  };
  reset();
  MortalApi undisturbed(api_);
  InitialiseAll(DepsWith(undisturbed), Context());
  check();
  ASSERT_EQ(undisturbed.calls, 4);

  for (int point = 0; point < undisturbed.calls; ++point) {
    for (const bool after : {false, true}) {
      SCOPED_TRACE(std::to_string(point) + (after ? " after" : " before"));
      reset();
      MortalApi killed(api_);
      (after ? killed.die_after : killed.die_before) = point;
      InitialiseAll(DepsWith(killed), Context());
      EXPECT_TRUE(killed.dead);
      MortalApi next(api_);
      InitialiseAll(DepsWith(next), Context());
      check();
      // Nothing is left to do for a third.
      api_.ClearCalls();
      MortalApi third(api_);
      InitialiseAll(DepsWith(third), Context());
      EXPECT_EQ(Writes(), 0);
    }
  }
}

TEST_F(Crash, L02_L05_DeletionAndTaintConvergeFromEveryKillPoint) {
  const auto old_node = [&](const std::string& name, kube::Tristate ready) {
    kube::Node node = MakeNode(name);
    node.meta.creation_unix_ms = 0;
    node.provider_id = Id(name);
    node.ready = ready;
    return node;
  };
  const auto reset = [&] {
    for (const char* name : {"gone", "off", "back", "fine"}) api_.RemoveNode(name);
    api_.PutNode(old_node("gone", kube::Tristate::kUnknown));
    api_.PutNode(old_node("off", kube::Tristate::kUnknown));
    kube::Node back = old_node("back", kube::Tristate::kTrue);
    back.taints = {{kTaintShutdown, "", kEffectNoSchedule, ""}};
    api_.PutNode(back);
    api_.PutNode(old_node("fine", kube::Tristate::kUnknown));
    instances_.Set(Id("gone"), GoneServer());
    instances_.Set(Id("off"), ServerInState(plugin::v1::INSTANCE_STATE_SHUT_DOWN));
    instances_.Set(Id("back"), RunningServer(Id("back")));
    instances_.Set(Id("fine"), RunningServer(Id("fine")));
  };
  const auto check = [&] {
    EXPECT_FALSE(Exists("gone"));
    ASSERT_TRUE(Exists("off") && Exists("back") && Exists("fine"));
    EXPECT_TRUE(HasShutdownTaint(Stored("off")));
    EXPECT_TRUE(Stored("back").taints.empty());
    EXPECT_TRUE(Stored("fine").taints.empty());
  };
  // A process that lives for three minutes, or until it is killed.
  const auto live = [&](MortalApi& api) {
    NodeLifecycleController controller(DepsWith(api), LifecycleOptions{});
    for (int pass = 0; pass < 36 && !api.dead; ++pass) {
      controller.RunPass(controller.Context());
      clock_.Advance(seconds(5));
    }
  };
  reset();
  MortalApi undisturbed(api_);
  live(undisturbed);
  check();
  ASSERT_GE(undisturbed.calls, 6);

  for (int point = 0; point < undisturbed.calls; ++point) {
    for (const bool after : {false, true}) {
      SCOPED_TRACE(std::to_string(point) + (after ? " after" : " before"));
      reset();
      MortalApi killed(api_);
      (after ? killed.die_after : killed.die_before) = point;
      live(killed);
      EXPECT_TRUE(killed.dead);
      MortalApi next(api_);
      live(next);
      check();
    }
  }
}

// A kill while the cloud is asked: nothing was written, so nothing is lost.
TEST_F(Crash, KillDuringTheQuestionToTheCloud) {
  api_.PutNode(MakeNewNode("a"));
  instances_.Set("a", Server("a"));
  instances_.Set(Id("a"), Server("a"));
  auto cancellation = Cancellation::Create();
  CallContext context = Context();
  context.cancellation = cancellation;
  instances_.OnCall([&](const DescribeCall&) { cancellation->Cancel("Stopping"); });
  NodeInitializer(Deps(), NodeControllerOptions{}).Sync({"a"}, context);
  EXPECT_EQ(Writes(), 0);
  instances_.OnCall(nullptr);
  EXPECT_TRUE(NodeInitializer(Deps(), NodeControllerOptions{}).Sync({"a"}, Context()).empty());
  EXPECT_FALSE(IsUninitialized(Stored("a")));
}

}  // namespace
}  // namespace otc::host
