#include "host/controllers/lifecycle_controller.h"

#include <gtest/gtest.h>

#include "host/controllers/node_plan.h"
#include "host/controllers/testing/lifecycle_fixture.h"

namespace otc::host {
namespace {

using kube::Tristate;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

using Lifecycle = LifecycleFixture;

TEST_F(Lifecycle, L01_ReadyNodesCostNothingAndStay) {
  Join("a", Tristate::kTrue);
  instances_.Set(Id("a"), GoneServer());
  Passes(stock_, minutes(5));
  EXPECT_EQ(DescribeCalls(), 0);
  EXPECT_EQ(Writes(), 0);
  EXPECT_TRUE(Exists("a"));
}

TEST_F(Lifecycle, L02_StockDeletesInTheSamePass) {
  for (const Tristate ready : {Tristate::kFalse, Tristate::kUnknown}) {
    Join("a", ready);
    instances_.Set(Id("a"), GoneServer());
    const int before = events_.Count("DeletingNode");
    Pass(stock_);
    EXPECT_FALSE(Exists("a"));
    ASSERT_EQ(events_.Count("DeletingNode"), before + 1);
  }
  const auto event = events_.Events()[0];
  EXPECT_EQ(event.component, "cloud-node-lifecycle-controller");
  EXPECT_EQ(event.type, kube::EventType::kNormal);
  EXPECT_EQ(event.message, "Deleting node a because it does not exist in the cloud provider");
  EXPECT_EQ(event.about.kind, "Node");
}

TEST_F(Lifecycle, L02_GuardDeletesAfterItsProofsWithFewCalls) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), GoneServer());
  const MonoTime begin = clock_.Now();
  while (Exists("a") && clock_.Now() - begin < minutes(10)) Pass(guarded_);
  EXPECT_FALSE(Exists("a"));
  EXPECT_EQ(DescribeCalls(), 3);
  EXPECT_GE(clock_.Now() - begin, seconds(60));
  EXPECT_LE(clock_.Now() - begin, seconds(75));
  EXPECT_EQ(metrics_.Sum("otc_host_nodes_deleted_total"), 1);
}

TEST_F(Lifecycle, L03_ErrorsChangeNothingAndTheNextNodeIsHandled) {
  Join("a", Tristate::kUnknown);
  Join("b", Tristate::kUnknown);
  instances_.Set(Id("a"), ServerInState(plugin::v1::INSTANCE_STATE_UNKNOWN, "Throttled"));
  instances_.Set(Id("b"), GoneServer());
  Pass(stock_);
  EXPECT_TRUE(Exists("a"));
  EXPECT_FALSE(Exists("b"));
  EXPECT_TRUE(Stored("a").taints.empty());
}

TEST_F(Lifecycle, L04_FailedDeletionIsToldAndTriedAgain) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), GoneServer());
  api_.FailNext("DeleteNode", Status(Code::kPermissionDenied, "Forbidden", "may not delete"));
  Pass(stock_);
  EXPECT_TRUE(Exists("a"));
  EXPECT_EQ(Reasons(), (std::vector<std::string>{"DeletingNode", "DeletingNodeFailed"}));
  EXPECT_EQ(events_.Events()[1].type, kube::EventType::kWarning);
  EXPECT_NE(events_.Events()[1].message.find("may not delete"), std::string::npos);
  Pass(stock_);
  EXPECT_FALSE(Exists("a"));
}

TEST_F(Lifecycle, L04_GuardedDeletionIsTriedAgainAtTheNextPass) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), GoneServer());
  api_.FailNext("DeleteNode", Status(Code::kPermissionDenied, "Forbidden", "may not delete"));
  while (api_.Calls("DeleteNode").empty()) Pass(guarded_);
  EXPECT_TRUE(Exists("a"));
  Pass(guarded_);
  EXPECT_FALSE(Exists("a"));
}

TEST_F(Lifecycle, L05_ShutdownTaintIsAddedOnce) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), ServerInState(plugin::v1::INSTANCE_STATE_SHUT_DOWN));
  Passes(stock_, minutes(1));
  EXPECT_EQ(Stored("a").taints, (std::vector<kube::Taint>{{kTaintShutdown, "", "NoSchedule", ""}}));
  EXPECT_EQ(Writes(), 1);
}

TEST_F(Lifecycle, L06_TaintGoesWhenTheNodeIsReadyOthersStay) {
  kube::Node node = Join("a", Tristate::kTrue);
  const kube::Taint other{"other", "v", "NoExecute", "2026-01-01T00:00:00Z"};
  node.taints = {{kTaintShutdown, "", "NoSchedule", ""}, other};
  api_.PutNode(node);
  Passes(stock_, minutes(1));
  EXPECT_EQ(Stored("a").taints, std::vector<kube::Taint>{other});
  EXPECT_EQ(Writes(), 1);
  EXPECT_EQ(DescribeCalls(), 0);
}

TEST_F(Lifecycle, L07_TaintStaysWhileTheNodeIsNotReady) {
  kube::Node node = Join("a", Tristate::kUnknown);
  node.taints = {{kTaintShutdown, "", "NoSchedule", ""}};
  api_.PutNode(node);
  Passes(stock_, minutes(1));
  EXPECT_EQ(Stored("a").taints, node.taints);
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Lifecycle, L08_UnknownStateLeavesTaintsAlone) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), ServerInState(plugin::v1::INSTANCE_STATE_UNKNOWN, "Throttled"));
  Passes(stock_, minutes(1));
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Lifecycle, L09_ForeignTaintChangeIsNotLost) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), ServerInState(plugin::v1::INSTANCE_STATE_SHUT_DOWN));
  api_.OnCall([&](const kube::RecordedCall& call) {
    if (call.method != "PatchNode") return;
    api_.OnCall(nullptr);
    api_.ChangeNode("a", R"({"spec":{"taints":[{"key":"x","effect":"NoSchedule"}]}})");
  });
  {
    Ticker ticker(clock_, milliseconds(50));
    stock_.RunPass(stock_.Context());
  }
  EXPECT_EQ(Stored("a").taints, (std::vector<kube::Taint>{{"x", "", "NoSchedule", ""},
                                                          {kTaintShutdown, "", "NoSchedule", ""}}));
  const auto gets = api_.Calls("GetNode");
  ASSERT_GE(gets.size(), 2U);
  EXPECT_EQ(gets[0].resource_version, "0");
  EXPECT_EQ(gets[1].resource_version, "");
  EXPECT_NE(api_.Calls("PatchNode")[0].body.find("resourceVersion"), std::string::npos);
}

TEST_F(Lifecycle, L10_NextPassStartsAPeriodAfterTheEndOfTheLast) {
  Join("a", Tristate::kUnknown);
  std::vector<MonoTime> starts;
  std::mutex mutex;
  instances_.OnCall([&](const DescribeCall&) {
    std::lock_guard lock(mutex);
    starts.push_back(clock_.Now());
    clock_.Advance(seconds(8));  // a pass that takes 8 s
  });
  NodeLifecycleController controller(Deps(), StockLifecycle());
  controller.Start();
  const auto count = [&] {
    std::lock_guard lock(mutex);
    return starts.size();
  };
  ASSERT_TRUE(RunUntil([&] { return count() >= 4; }, milliseconds(500)));
  controller.Stop();
  for (std::size_t i = 1; i < starts.size(); ++i) {
    EXPECT_GE(starts[i] - starts[i - 1], seconds(13));
  }
  EXPECT_EQ(instances_.MostParallelCalls(), 1);
}

TEST_F(Lifecycle, L11_ReplacedNodeIsNotDeleted) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), GoneServer());
  // While the cloud is asked, the node is deleted and registers anew; the cache lags.
  instances_.OnCall([&](const DescribeCall&) {
    api_.MirrorTo(nullptr);
    api_.RemoveNode("a");
    kube::Node other = MakeNode("a");
    other.meta.uid = "another";
    other.ready = Tristate::kFalse;
    other.provider_id = "otc:///new";
    api_.PutNode(other);
  });
  Pass(stock_);
  EXPECT_TRUE(Exists("a"));
  EXPECT_EQ(Stored("a").meta.uid, "another");
}

TEST_F(Lifecycle, L11_UidPreconditionAnd409IsIgnored) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), GoneServer());
  // The node is replaced between the last look and the DELETE.
  api_.OnCall([&](const kube::RecordedCall& call) {
    if (call.method != "DeleteNode") return;
    api_.OnCall(nullptr);
    kube::Node other = MakeNode("a");
    other.meta.uid = "another";
    api_.PutNode(other);
  });
  Pass(stock_);
  EXPECT_TRUE(Exists("a"));
  ASSERT_EQ(api_.Calls("DeleteNode").size(), 1U);
  EXPECT_EQ(api_.Calls("DeleteNode")[0].preconditions.uid, "uid-a");
  EXPECT_EQ(events_.Count("DeletingNodeFailed"), 0);
}

TEST_F(Lifecycle, NodeThatIsReadyByNowIsNotDeletedThoughTheCacheLags) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), GoneServer());
  api_.MirrorTo(nullptr);
  SetReady("a", Tristate::kTrue);
  Pass(stock_);
  EXPECT_TRUE(Exists("a"));
  EXPECT_TRUE(api_.Calls("DeleteNode").empty());
}

TEST_F(Lifecycle, L12_NothingHappensBeforeTheCacheIsComplete) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), GoneServer());
  lister_.SetSynced(false);
  Passes(stock_, minutes(1));
  EXPECT_EQ(DescribeCalls(), 0);
  EXPECT_TRUE(Exists("a"));
}

TEST_F(Lifecycle, L13_TaintRemovalFromADeletedNodeIsHarmless) {
  kube::Node node = Join("a", Tristate::kTrue);
  node.taints = {{kTaintShutdown, "", "NoSchedule", ""}};
  api_.PutNode(node);
  api_.MirrorTo(nullptr);
  api_.RemoveNode("a");
  Pass(stock_);
  EXPECT_EQ(Writes(), 0);
  EXPECT_TRUE(events_.Events().empty());
}

TEST_F(Lifecycle, L14_FiveHundredNotReadyNodesCostOneCallAPass) {
  for (int i = 0; i < 500; ++i) Join("n" + std::to_string(i), Tristate::kUnknown);
  for (int pass = 1; pass <= 3; ++pass) {
    Pass(stock_);
    EXPECT_EQ(DescribeCalls(), pass);
  }
  EXPECT_EQ(instances_.Calls()[0].names.size(), 500U);
  EXPECT_FALSE(instances_.Calls()[0].want_metadata);
}

TEST_F(Lifecycle, L15_NodeWithoutProviderIdIsAskedByNameAndNeverDeleted) {
  for (const char* name : {"a", "b"}) {
    kube::Node node = Join(name, Tristate::kUnknown);
    api_.RemoveNode(name);
    node.provider_id.clear();
    api_.PutNode(node);
  }
  instances_.Set("a", ServerInState(plugin::v1::INSTANCE_STATE_UNKNOWN, "NoSuchName"));
  instances_.Set("b", GoneServer());
  Passes(stock_, minutes(5));
  EXPECT_GT(DescribeCalls(), 0);
  EXPECT_TRUE(Exists("a"));
  EXPECT_TRUE(Exists("b"));
}

TEST_F(Lifecycle, L16_P_D3_ForeignNodesAreNeverDeletedOrTouched) {
  for (const char* id : {"aws:///eu/i-1", "openstack:///x", "metal://host"}) {
    kube::Node node = Join("a", Tristate::kUnknown);
    api_.RemoveNode("a");
    node.provider_id = id;
    api_.PutNode(node);
    // Even if a plugin said so.
    instances_.Set(id, GoneServer());
    Passes(stock_, minutes(5));
    EXPECT_TRUE(Exists("a")) << id;
    instances_.Set(id, ServerInState(plugin::v1::INSTANCE_STATE_FOREIGN));
    Passes(stock_, minutes(5));
    EXPECT_TRUE(Exists("a")) << id;
    EXPECT_EQ(Writes(), 0);
    api_.RemoveNode("a");
    api_.ClearCalls();
  }
}

TEST_F(Lifecycle, L16_ShutdownTaintOfAnotherCloudStays) {
  kube::Node node = Join("a", Tristate::kTrue);
  api_.RemoveNode("a");
  node.provider_id = "aws:///i-1";
  node.taints = {{kTaintShutdown, "", "NoSchedule", ""}};
  api_.PutNode(node);
  Passes(stock_, minutes(1));
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Lifecycle, L17_GoneNeedsAProof) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), ServerInState(plugin::v1::INSTANCE_STATE_GONE, "NotInList"));
  Passes(stock_, minutes(5));
  EXPECT_TRUE(Exists("a"));
  auto no_method = ServerInState(plugin::v1::INSTANCE_STATE_GONE);
  no_method.mutable_proof()->set_http_status(404);
  instances_.Set(Id("a"), no_method);
  Passes(stock_, minutes(5));
  EXPECT_TRUE(Exists("a"));
  instances_.Set(Id("a"), GoneServer());
  Pass(stock_);
  EXPECT_FALSE(Exists("a"));
}

TEST_F(Lifecycle, DeletingNodesAreNotAskedAbout) {
  kube::Node node = Join("a", Tristate::kUnknown);
  node.meta.deleting = true;
  lister_.Set(node);
  Passes(stock_, minutes(1));
  EXPECT_EQ(DescribeCalls(), 0);
}

TEST_F(Lifecycle, P_E2_NodeThatStaysShutDownCostsOneCallAMinute) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), ServerInState(plugin::v1::INSTANCE_STATE_SHUT_DOWN));
  Passes(guarded_, minutes(5));
  const int settled = DescribeCalls();
  Passes(guarded_, minutes(30));
  EXPECT_LE(DescribeCalls() - settled, 31);
  EXPECT_EQ(Writes(), 1);
  // It is found all the same when it is deleted.
  instances_.Set(Id("a"), GoneServer());
  Passes(guarded_, minutes(3));
  EXPECT_FALSE(Exists("a"));
}

TEST_F(Lifecycle, E20_ShutGateLetsNoWritePass) {
  Join("a", Tristate::kUnknown);
  Join("b", Tristate::kUnknown);
  instances_.Set(Id("a"), GoneServer());
  instances_.Set(Id("b"), ServerInState(plugin::v1::INSTANCE_STATE_SHUT_DOWN));
  gate_.open = false;
  Passes(stock_, minutes(1));
  EXPECT_EQ(Writes(), 0);
  EXPECT_TRUE(events_.Events().empty()) << "nothing is announced that is not done";
}

TEST_F(Lifecycle, StopEndsTheThread) {
  NodeLifecycleController controller(Deps(), StockLifecycle());
  controller.Start();
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  controller.Stop();
  EXPECT_EQ(clock_.Waiters(), 0);
}

}  // namespace
}  // namespace otc::host
