#include "host/controllers/controller_set.h"

#include <gtest/gtest.h>

#include "host/controllers/testing/controller_fixture.h"

namespace otc::host {
namespace {

using std::chrono::milliseconds;

struct NamesCase {
  std::vector<std::string> list;
  bool node;
  bool lifecycle;
  bool service;
  bool route;
};

TEST(ParseControllers, P02_FirstMatchDecidesAndStarMeansTheRest) {
  const std::vector<NamesCase> cases = {
      {{"*"}, true, true, true, true},
      {{}, false, false, false, false},
      {{"*", "-route"}, true, true, true, false},
      {{"-route", "*"}, true, true, true, false},
      {{"service"}, false, false, true, false},
      {{"-service"}, false, false, false, false},
      {{"cloud-node", "service-lb-controller"}, true, false, true, false},
      {{"cloud-node-controller", "-cloud-node"}, true, false, false, false},
      {{"-cloud-node", "cloud-node-controller", "*"}, false, true, true, true},
      {{"cloud-node-lifecycle-controller", "node-route-controller"}, false, true, false, true},
      {{"*", "*"}, true, true, true, true},
  };
  for (const NamesCase& c : cases) {
    const auto selection = ParseControllers(c.list);
    ASSERT_TRUE(selection.ok());
    EXPECT_EQ(selection->Enabled(ControllerId::kNode), c.node);
    EXPECT_EQ(selection->Enabled(ControllerId::kNodeLifecycle), c.lifecycle);
    EXPECT_EQ(selection->Enabled(ControllerId::kService), c.service);
    EXPECT_EQ(selection->Enabled(ControllerId::kRoute), c.route);
  }
}

TEST(ParseControllers, P01_P02_AllUnknownNamesAtOnceWithWhatIsAllowed) {
  const auto selection = ParseControllers({"*", "-nod", "cloud-nodes", "", "--service", "-"});
  ASSERT_FALSE(selection.ok());
  EXPECT_EQ(selection.status().code(), Code::kInvalidArgument);
  const std::string& text = selection.status().message();
  for (const char* part : {"\"-nod\"", "\"cloud-nodes\"", "\"\"", "\"--service\"", "\"-\"",
                           "did you mean cloud-node?", "service-lb-controller (service)",
                           "cloud-node-lifecycle-controller (cloud-node-lifecycle)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

class Set : public ControllerFixture {
 protected:
  double Running(const std::string& name) {
    return metrics_.Sum("running_managed_controllers", {{"name", name}});
  }
};

TEST_F(Set, P02_StartsWhatIsSelectedAndSaysSo) {
  ControllerSetOptions options;
  options.selection = *ParseControllers({"*", "-cloud-node-lifecycle"});
  ControllerSet set(Deps(), options);
  ASSERT_TRUE(set.Start().ok());
  EXPECT_EQ(set.Running(), std::vector<std::string>{"cloud-node-controller"});
  EXPECT_EQ(Running("cloud-node"), 1);
  EXPECT_EQ(Running("cloud-node-lifecycle"), 0);
  set.Stop();
  EXPECT_EQ(Running("cloud-node"), 0);
  EXPECT_TRUE(set.Running().empty());
  EXPECT_NE(metrics_.Render().find(
                "running_managed_controllers{manager=\"cloud-controller-manager\",name="),
            std::string::npos);
}

TEST_F(Set, WithoutAPluginNothingRuns) {
  ControllerDeps deps = Deps();
  deps.instances = nullptr;
  ControllerSet set(deps, {});
  ASSERT_TRUE(set.Start().ok());
  EXPECT_TRUE(set.Running().empty());
}

TEST_F(Set, AllBadSettingsAtOnce) {
  ControllerSetOptions options;
  options.node.concurrent_syncs = 0;
  options.node.concurrent_status_updates = -1;
  options.lifecycle.monitor_period = Duration::zero();
  options.lifecycle.guard.proofs = 0;
  ControllerSet set(Deps(), options);
  const Status status = set.Start();
  ASSERT_EQ(status.code(), Code::kInvalidArgument);
  for (const char* part :
       {"--concurrent-node-syncs=0 must be at least 1", "--concurrent-node-status-updates=-1",
        "--node-monitor-period", "the number of proofs of absence=0"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << part;
  }
  EXPECT_TRUE(set.Running().empty());
}

TEST_F(Set, BothControllersWorkTogetherAndEndCleanly) {
  ControllerSet set(Deps(), {});
  instances_.Set("a", RunningServer(Id("a")));
  instances_.Set(Id("a"), RunningServer(Id("a")));
  ASSERT_TRUE(set.Start().ok());
  api_.PutNode(MakeNewNode("a"));
  ASSERT_TRUE(RunUntil([&] { return events_.Count("Synced") == 1; }, milliseconds(10)));
  kube::Node node = Stored("a");
  node.ready = kube::Tristate::kUnknown;
  api_.PutNode(node);
  instances_.Set(Id("a"), GoneServer());
  // A minute of proofs and two of age.
  EXPECT_TRUE(RunUntil([&] { return !Exists("a"); }, milliseconds(500)));
  set.Cancel();
  set.Stop();
  set.Stop();
  EXPECT_EQ(clock_.Waiters(), 0);
}

}  // namespace
}  // namespace otc::host
