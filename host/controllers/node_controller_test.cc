#include "host/controllers/node_controller.h"

#include <gtest/gtest.h>

#include "host/controllers/testing/controller_fixture.h"

namespace otc::host {
namespace {

using plugin::v1::InstanceDescribeResult;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class Controller : public ControllerFixture {
 protected:
  ~Controller() override { controller_.reset(); }

  void Start(const NodeControllerOptions& options = {}) {
    controller_ = std::make_unique<NodeController>(Deps(), options);
    controller_->Start();
  }
  InstanceDescribeResult Server(const std::string& name) {
    InstanceDescribeResult result = RunningServer(Id(name));
    AddAddress(result.mutable_metadata(), "InternalIP", "10.0.0.1");
    return result;
  }
  void Join(const std::string& name) {
    instances_.Set(name, Server(name));
    instances_.Set(Id(name), Server(name));
    api_.PutNode(MakeNewNode(name));
  }
  bool Initialised(const std::string& name) { return Exists(name) && Stored(name).taints.empty(); }
  // Calls that were made for new nodes, with any of them in it.
  int CallsFor(const std::string& name) {
    int count = 0;
    for (const DescribeCall& call : instances_.Calls()) {
      count += static_cast<int>(std::count(call.names.begin(), call.names.end(), name));
    }
    return count;
  }

  std::unique_ptr<NodeController> controller_;
};

TEST_F(Controller, N01_NewNodeIsInitialised) {
  Start();
  Join("a");
  EXPECT_TRUE(
      RunUntil([&] { return Initialised("a") && events_.Count("Synced") == 1; }, milliseconds(10)));
}

TEST_F(Controller, NothingHappensBeforeTheCacheIsComplete) {
  lister_.SetSynced(false);
  Join("a");
  Start();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(clock_.AwaitWaiters(2));
    clock_.Advance(seconds(1));
  }
  EXPECT_EQ(DescribeCalls(), 0);
  lister_.SetSynced(true);
  EXPECT_TRUE(RunUntil([&] { return Initialised("a"); }, milliseconds(100)));
}

TEST_F(Controller, N06_AnUpdateOfTheNodeAsksAgain) {
  Join("a");
  instances_.Set("a", ServerInState(plugin::v1::INSTANCE_STATE_RUNNING));
  Start();
  ASSERT_TRUE(RunUntil([&] { return CallsFor("a") == 1; }, milliseconds(10)));
  // No back-off runs: minutes pass without another call.
  for (int i = 0; i < 50; ++i) {
    clock_.Advance(seconds(2));
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(CallsFor("a"), 1);
  instances_.Set("a", Server("a"));
  api_.ChangeNode("a", R"({"metadata":{"labels":{"x":"y"}}})");
  EXPECT_TRUE(RunUntil([&] { return Initialised("a"); }, milliseconds(10)));
}

TEST_F(Controller, N07_BackOffDoublesAndSuccessResetsIt) {
  NodeControllerOptions options;
  options.batch_window = Duration::zero();
  std::vector<MonoTime> attempts;
  std::mutex mutex;
  const auto count = [&] {
    std::lock_guard lock(mutex);
    return attempts.size();
  };
  instances_.OnCall([&](const DescribeCall&) {
    std::lock_guard lock(mutex);
    attempts.push_back(clock_.Now());
    if (attempts.size() == 4) instances_.Set("a", Server("a"));
  });
  api_.PutNode(MakeNewNode("a"));
  Start(options);
  ASSERT_TRUE(RunUntil([&] { return Initialised("a"); }, milliseconds(1)));
  ASSERT_EQ(count(), 4U);
  // RunUntil moves on by 1 ms at a time and may be ahead of the worker.
  const std::vector<Duration> least = {milliseconds(5), milliseconds(10), milliseconds(20)};
  for (std::size_t i = 0; i < least.size(); ++i) EXPECT_GE(attempts[i + 1] - attempts[i], least[i]);

  // Registered anew and failing: the first distance is 5 ms again, not 40.
  instances_.OnCall(nullptr);
  instances_.Forget(Id("a"));
  const int before = CallsFor("a");
  api_.ChangeNode("a", R"({"spec":{"taints":[{"key":
      "node.cloudprovider.kubernetes.io/uninitialized","effect":"NoSchedule"}]}})");
  ASSERT_TRUE(RunUntil([&] { return CallsFor("a") == before + 1; }, Duration::zero()));
  ASSERT_TRUE(clock_.AwaitWaiters(2));
  EXPECT_TRUE(RunUntil([&] { return clock_.EarliestDeadline() - clock_.Now() <= milliseconds(5); },
                       Duration::zero()));
}

TEST_F(Controller, N14_UpdatesOfInitialisedNodesCostNoCloudCall) {
  kube::Node node = MakeNode("a");
  node.provider_id = Id("a");
  instances_.Set(Id("a"), RunningServer(Id("a")));
  Start();
  ASSERT_TRUE(clock_.AwaitWaiters(2));  // the first periodic sync saw no node
  for (int i = 0; i < 100; ++i) {
    node.meta.labels["n"] = std::to_string(i);
    api_.PutNode(node);
  }
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(seconds(1));
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(DescribeCalls(), 0);
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Controller, N15_LabelReconciliationIsTriggeredByAnUpdate) {
  Start();
  kube::Node node = MakeNode("a");
  node.meta.labels = {{kLabelZoneBeta, "z"}};
  api_.PutNode(node);
  EXPECT_TRUE(
      RunUntil([&] { return Stored("a").meta.labels.count(kLabelZone) == 1; }, milliseconds(10)));
}

TEST_F(Controller, N18_PeriodicSyncRunsAtOnceAndThenEveryFiveMinutes) {
  kube::Node node = MakeNode("a");
  node.provider_id = Id("a");
  instances_.Set(Id("a"), Server("a"));
  api_.PutNode(node);
  Start();
  ASSERT_TRUE(RunUntil([&] { return DescribeCalls() == 1; }, Duration::zero()));
  ASSERT_TRUE(clock_.AwaitWaiters(2));
  clock_.Advance(minutes(5) - seconds(1));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(DescribeCalls(), 1);
  clock_.Advance(seconds(1));
  EXPECT_TRUE(RunUntil([&] { return DescribeCalls() == 2; }, Duration::zero()));
}

TEST_F(Controller, P_E1_IdleClusterCostsFewCloudCalls) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = "n" + std::to_string(i);
    kube::Node node = MakeNode(name);
    node.provider_id = Id(name);
    instances_.Set(Id(name), RunningServer(Id(name)));
    api_.PutNode(node);
  }
  Start();
  int steps = 0;
  ASSERT_TRUE(RunUntil([&] { return DescribeCalls() >= 1 && ++steps > 60; }, minutes(1)));
  // One call every five minutes: an hour and the first minute.
  EXPECT_LE(DescribeCalls(), 14);
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Controller, N33_ParallelismIsBoundedAndNoNodeIsAskedTwiceAtOnce) {
  NodeControllerOptions options;
  options.concurrent_syncs = 5;
  options.batch_max = 1;  // else one call would do
  // Each call waits until five run or nothing more comes.
  std::atomic<int> inside{0};
  instances_.OnCall([&](const DescribeCall&) {
    ++inside;
    for (int i = 0; i < 50 && inside < 5; ++i) std::this_thread::sleep_for(milliseconds(1));
    std::this_thread::sleep_for(milliseconds(2));
    --inside;
  });
  lister_.SetSynced(false);
  for (int i = 0; i < 10; ++i) Join("n" + std::to_string(i));
  Start(options);
  lister_.SetSynced(true);
  ASSERT_TRUE(RunUntil(
      [&] {
        // Updates come in while nodes are worked on.
        for (int i = 0; i < 10; ++i) {
          const std::string name = "n" + std::to_string(i);
          if (!Initialised(name)) api_.ChangeNode(name, R"({"metadata":{"labels":{"x":"y"}}})");
        }
        return events_.Count("Synced") == 10;
      },
      milliseconds(10)));
  EXPECT_LE(instances_.MostParallelCalls(), 5);
  EXPECT_GE(instances_.MostParallelCalls(), 2);
  EXPECT_FALSE(instances_.Overlapped());
}

TEST_F(Controller, P_D8_FiveHundredNewNodesNeedAHandfulOfCalls) {
  lister_.SetSynced(false);
  for (int i = 0; i < 500; ++i) Join("n" + std::to_string(i));
  Start();
  lister_.SetSynced(true);
  const MonoTime begin = clock_.Now();
  ASSERT_TRUE(RunUntil([&] { return events_.Count("Synced") == 500; }, milliseconds(20)));
  EXPECT_LE(DescribeCalls(), 5);
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Initialised("n" + std::to_string(i)));
  EXPECT_LE(clock_.Now() - begin, seconds(60));
}

TEST_F(Controller, P_D8_NodesThatArriveWithinTheWindowShareACall) {
  Start();
  ASSERT_TRUE(clock_.AwaitWaiters(2));
  Join("a");
  ASSERT_TRUE(
      RunUntil([&] { return clock_.EarliestDeadline() - clock_.Now() <= milliseconds(100); },
               Duration::zero()));
  Join("b");
  ASSERT_TRUE(RunUntil([&] { return events_.Count("Synced") == 2; }, milliseconds(10)));
  ASSERT_EQ(DescribeCalls(), 1);
  EXPECT_EQ(instances_.Calls()[0].names, (std::vector<std::string>{"a", "b"}));
}

TEST_F(Controller, P_D8_WhatFailedTogetherIsTriedAgainTogether) {
  lister_.SetSynced(false);
  for (int i = 0; i < 200; ++i) Join("n" + std::to_string(i));
  instances_.FailAll(Status(Code::kUnavailable, "CloudUnreachable", "connection refused"));
  instances_.OnCall([&](const DescribeCall&) {
    if (instances_.Calls().size() == 3) instances_.FailAll(Status());
  });
  Start();
  lister_.SetSynced(true);
  ASSERT_TRUE(RunUntil([&] { return events_.Count("Synced") == 200; }, milliseconds(20)));
  EXPECT_LE(DescribeCalls(), 10);
}

TEST_F(Controller, StopEndsAllThreadsWhileACallRuns) {
  Start();
  std::atomic<bool> entered{false};
  instances_.OnCall([&](const DescribeCall&) { entered = true; });
  Join("a");
  ASSERT_TRUE(RunUntil([&] { return entered.load(); }, milliseconds(10)));
  controller_->Stop();
  const int calls = DescribeCalls();
  // The informer lives on; nothing comes of it any more.
  Join("b");
  clock_.Advance(minutes(10));
  EXPECT_EQ(DescribeCalls(), calls);
}

TEST_F(Controller, P12_WorkQueueIsCalledNodes) {
  Start();
  EXPECT_NE(metrics_.Render().find("workqueue_depth{name=\"Nodes\"}"), std::string::npos);
}

}  // namespace
}  // namespace otc::host
