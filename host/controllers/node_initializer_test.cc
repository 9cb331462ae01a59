#include "host/controllers/node_initializer.h"

#include <gtest/gtest.h>

#include "host/controllers/node_patches.h"
#include "host/controllers/testing/controller_fixture.h"
#include "host/kube/testing/forwarding_kube_api.h"

namespace otc::host {
namespace {

using plugin::v1::InstanceDescribeResult;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Initializer : public ControllerFixture {
 protected:
  // A server of this name with everything the plugin can say about it.
  InstanceDescribeResult FullServer(const std::string& name) {
    InstanceDescribeResult result = RunningServer(Id(name));
    result.mutable_metadata()->set_zone("eu-de-01");
    result.mutable_metadata()->set_region("eu-de");
    result.mutable_metadata()->set_instance_type("s3.large.2");
    AddAddress(result.mutable_metadata(), "InternalIP", "10.0.0.1");
    AddAddress(result.mutable_metadata(), "ExternalIP", "80.1.2.3");
    return result;
  }
  // A new node with its server, in the cluster.
  void Join(const std::string& name) {
    instances_.Set(name, FullServer(name));
    instances_.Set(Id(name), FullServer(name));
    kube::Node node = MakeNewNode(name);
    node.addresses = {{"Hostname", name}};
    api_.PutNode(node);
    api_.ClearCalls();
  }
  std::vector<std::string> Sync(const std::vector<std::string>& names) {
    return initializer_.Sync(names, Context());
  }

  NodeInitializer initializer_{Deps(), NodeControllerOptions{}};
};

TEST_F(Initializer, N01_SEED_02_OneWriteThenAddressesThenEvent) {
  Join("a");
  EXPECT_TRUE(Sync({"a"}).empty());
  const kube::Node node = Stored("a");
  EXPECT_EQ(node.provider_id, Id("a"));
  EXPECT_TRUE(node.taints.empty());
  for (const char* label : {kLabelZone, kLabelZoneBeta}) {
    EXPECT_EQ(node.meta.labels.at(label), "eu-de-01");
  }
  for (const char* label : {kLabelRegion, kLabelRegionBeta}) {
    EXPECT_EQ(node.meta.labels.at(label), "eu-de");
  }
  for (const char* label : {kLabelInstanceType, kLabelInstanceTypeBeta}) {
    EXPECT_EQ(node.meta.labels.at(label), "s3.large.2");
  }
  EXPECT_EQ(node.addresses,
            (std::vector<kube::NodeAddress>{
                {"InternalIP", "10.0.0.1"}, {"ExternalIP", "80.1.2.3"}, {"Hostname", "a"}}));
  const auto patches = api_.Calls("PatchNode");
  ASSERT_EQ(patches.size(), 2U);
  EXPECT_EQ(patches[0].subresource, "");
  EXPECT_NE(patches[0].body.find("\"resourceVersion\""), std::string::npos);
  EXPECT_EQ(patches[1].subresource, "status");
  const auto events = events_.Events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].component, "cloud-node-controller");
  EXPECT_EQ(events[0].reason, "Synced");
  EXPECT_EQ(events[0].message, "Node synced successfully");
  EXPECT_EQ(events[0].type, kube::EventType::kNormal);
  EXPECT_EQ(events[0].about.uid, "uid-a");
  EXPECT_EQ(events[0].about.namespace_, "");
}

TEST_F(Initializer, P12_DelayMetricsHaveUpstreamsNamesAndBuckets) {
  Join("a");
  clock_.Advance(seconds(3));
  Sync({"a"});
  const std::string text = metrics_.Render();
  for (const char* line :
       {"node_controller_cloud_provider_taint_removal_delay_seconds_bucket{le=\"1\"} 0",
        "node_controller_cloud_provider_taint_removal_delay_seconds_bucket{le=\"4\"} 1",
        "node_controller_cloud_provider_taint_removal_delay_seconds_bucket{le=\"1024\"} 1",
        "node_controller_initial_node_sync_delay_seconds_bucket{le=\"4\"} 1",
        "node_controller_initial_node_sync_delay_seconds_count 1"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST_F(Initializer, N03_ProviderIdOfTheNodeStays) {
  kube::Node node = MakeNewNode("a");
  node.provider_id = "otc:///x";
  instances_.Set("otc:///x", FullServer("y"));
  api_.PutNode(node);
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_EQ(Stored("a").provider_id, "otc:///x");
  EXPECT_FALSE(IsUninitialized(Stored("a")));
}

TEST_F(Initializer, N04_NoProviderIdAnywhereIsTriedAgainUntilThereIsOne) {
  Join("a");
  InstanceDescribeResult nameless = FullServer("a");
  nameless.mutable_metadata()->clear_provider_id();
  instances_.Set("a", nameless);
  EXPECT_EQ(Sync({"a"}), std::vector<std::string>{"a"});
  EXPECT_EQ(Writes(), 0);
  instances_.Set("a", FullServer("a"));
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_EQ(Stored("a").provider_id, Id("a"));
}

TEST_F(Initializer, N05_ProviderIdOfTheNodeIsEnough) {
  Join("a");
  api_.ChangeNode("a", R"({"spec":{"providerID":"otc:///id-of-a"}})");
  InstanceDescribeResult nameless = FullServer("a");
  nameless.mutable_metadata()->clear_provider_id();
  instances_.Set(Id("a"), nameless);
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_FALSE(IsUninitialized(Stored("a")));
  EXPECT_EQ(Stored("a").provider_id, Id("a"));
}

TEST_F(Initializer, N06_KnownServerWithoutMetadataIsLeftAlone) {
  Join("a");
  instances_.Set("a", ServerInState(plugin::v1::INSTANCE_STATE_RUNNING));
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_EQ(Writes(), 0);
  EXPECT_TRUE(events_.Events().empty());
  EXPECT_TRUE(IsUninitialized(Stored("a")));
}

TEST_F(Initializer, P_D3_ForeignNodeIsLeftAlone) {
  Join("a");
  api_.ChangeNode("a", R"({"spec":{"providerID":"aws:///i-1"}})");
  instances_.Set("aws:///i-1", ServerInState(plugin::v1::INSTANCE_STATE_FOREIGN, "ForeignId"));
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_EQ(Writes(), 0);
  EXPECT_TRUE(IsUninitialized(Stored("a")));
}

TEST_F(Initializer, ShutDownServerIsInitialisedToo) {
  Join("a");
  InstanceDescribeResult result = FullServer("a");
  result.set_state(plugin::v1::INSTANCE_STATE_SHUT_DOWN);
  instances_.Set("a", result);
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_FALSE(IsUninitialized(Stored("a")));
}

TEST_F(Initializer, N12_ConflictIsPlannedAnewFromWhatTheWatchBrings) {
  Join("a");
  // Somebody labels the node while it is described; the watch is late.
  std::thread watch;
  api_.MirrorTo(nullptr);
  api_.ChangeNode("a", R"({"metadata":{"labels":{"who":"else"}}})");
  api_.OnCall([&](const kube::RecordedCall& call) {
    if (call.method != "PatchNode") return;
    api_.OnCall(nullptr);
    // After the first refusal the watch catches up.
    watch = std::thread([&] {
      clock_.AwaitWaiters(1);
      api_.MirrorTo(&lister_);
      clock_.Advance(milliseconds(50));
    });
  });
  EXPECT_TRUE(Sync({"a"}).empty());
  watch.join();
  const kube::Node node = Stored("a");
  EXPECT_FALSE(IsUninitialized(node));
  EXPECT_EQ(node.meta.labels.at("who"), "else");
  EXPECT_EQ(events_.Count("Synced"), 1);
}

TEST_F(Initializer, N12_AtMostTwentyTriesFiftyMillisecondsApart) {
  Join("a");
  std::vector<MonoTime> tries;
  api_.OnCall([&](const kube::RecordedCall& call) {
    if (call.method != "PatchNode") return;
    tries.push_back(clock_.Now());
    // Always somebody else was faster, and the watch brings that at once.
    api_.ChangeNode("a",
                    R"({"metadata":{"labels":{"n":")" + std::to_string(tries.size()) + R"("}}})");
  });
  Ticker ticker(clock_, milliseconds(10));
  EXPECT_EQ(Sync({"a"}), std::vector<std::string>{"a"});
  ASSERT_EQ(tries.size(), 20U);
  for (std::size_t i = 1; i < tries.size(); ++i) {
    EXPECT_GE(tries[i] - tries[i - 1], milliseconds(50));
  }
  EXPECT_TRUE(IsUninitialized(Stored("a")));
}

TEST_F(Initializer, N12_NothingIsSentAgainBeforeTheWatchHasCaughtUp) {
  Join("a");
  api_.MirrorTo(nullptr);
  api_.ChangeNode("a", R"({"metadata":{"labels":{"who":"else"}}})");
  Ticker ticker(clock_, milliseconds(50));
  EXPECT_EQ(Sync({"a"}), std::vector<std::string>{"a"});
  EXPECT_EQ(Writes(), 1);
}

TEST_F(Initializer, N13_FieldsThatTheHostDoesNotKnowSurvive) {
  instances_.Set("a", FullServer("a"));
  api_.PutNodeJson(R"({"metadata":{"name":"a","uid":"u","annotations":{"x/y":"z"},
      "managedFields":[{"manager":"kubelet"}]},
    "spec":{"podCIDR":"10.1.0.0/24","futureField":{"deep":[1,2]},
      "taints":[{"key":"node.cloudprovider.kubernetes.io/uninitialized","effect":"NoSchedule"}]},
    "status":{"capacity":{"cpu":"4"},"conditions":[{"type":"Ready","status":"True"}]}})");
  EXPECT_TRUE(Sync({"a"}).empty());
  const std::string json = api_.NodeJson("a");
  for (const char* kept : {"\"x/y\"", "managedFields", "podCIDR", "futureField", "\"deep\"",
                           "\"capacity\"", "conditions"}) {
    EXPECT_NE(json.find(kept), std::string::npos) << kept << " in " << json;
  }
  EXPECT_EQ(Stored("a").provider_id, Id("a"));
}

TEST_F(Initializer, N15_N16_LabelsOfInitialisedNodesAreReconciledWithoutTheCloud) {
  kube::Node node = MakeNode("a");
  node.meta.labels = {{kLabelZoneBeta, "z"}, {kLabelRegionBeta, "r"}, {kLabelRegion, "other"}};
  api_.PutNode(node);
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_EQ(Stored("a").meta.labels.at(kLabelZone), "z");
  EXPECT_EQ(Stored("a").meta.labels.at(kLabelRegion), "r");
  EXPECT_EQ(api_.Calls("PatchNode").at(0).patch_type, kube::PatchType::kStrategicMerge);
  EXPECT_EQ(DescribeCalls(), 0);

  api_.ClearCalls();
  kube::Node ga_only = MakeNode("b");
  ga_only.meta.labels = {{kLabelZone, "z"}};
  api_.PutNode(ga_only);
  EXPECT_TRUE(Sync({"b"}).empty());
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Initializer, N17_LabelConflictIsRetriedFromTheNewestState) {
  kube::Node node = MakeNode("a");
  node.meta.labels = {{kLabelZoneBeta, "z"}};
  api_.PutNode(node);
  api_.FailNext("PatchNode", Status(Code::kAborted, "Conflict", "409"), 10);
  Ticker ticker(clock_, milliseconds(50));
  EXPECT_EQ(Sync({"a"}), std::vector<std::string>{"a"});
  EXPECT_EQ(api_.Calls("PatchNode").size(), 5U);
  const auto gets = api_.Calls("GetNode");
  ASSERT_EQ(gets.size(), 5U);
  EXPECT_EQ(gets[0].resource_version, "0");
  for (std::size_t i = 1; i < gets.size(); ++i) EXPECT_EQ(gets[i].resource_version, "");
}

TEST_F(Initializer, N27_P_D7_UnknownProvidedIpKeepsTheTaintAndSaysWhy) {
  Join("a");
  api_.ChangeNode("a", R"({"metadata":{"annotations":{"alpha.kubernetes.io/provided-node-ip":
                            "10.9.9.9"}}})");
  EXPECT_EQ(Sync({"a"}), std::vector<std::string>{"a"});
  EXPECT_EQ(Writes(), 0);
  EXPECT_TRUE(events_.Events().empty()) << "the first seconds are silent";
  clock_.Advance(seconds(3));
  EXPECT_EQ(Sync({"a"}), std::vector<std::string>{"a"});
  ASSERT_EQ(events_.Count("NodeNotInitialized"), 1);
  EXPECT_NE(events_.Events()[0].message.find("ProvidedNodeIpUnknown"), std::string::npos);
  EXPECT_NE(events_.Events()[0].message.find("10.9.9.9"), std::string::npos);
  EXPECT_EQ(events_.Events()[0].type, kube::EventType::kWarning);
}

TEST_F(Initializer, N28_MalformedProvidedIpKeepsTheTaint) {
  Join("a");
  for (const char* text : {"", " 10.0.0.1", "10.0.0.1,10.1.1.2", "10.0.0.1,::"}) {
    api_.ChangeNode("a", R"({"metadata":{"annotations":{"alpha.kubernetes.io/provided-node-ip":)" +
                             std::string("\"") + text + "\"}}}");
    EXPECT_EQ(Sync({"a"}), std::vector<std::string>{"a"}) << text;
  }
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Initializer, P_D7_SameReasonIsToldOnceInFiveMinutesANewOneAtOnce) {
  Join("a");
  instances_.Set("a", ServerInState(plugin::v1::INSTANCE_STATE_UNKNOWN, "CloudUnreachable"));
  for (int i = 0; i < 60; ++i) {
    Sync({"a"});
    clock_.Advance(seconds(4));
  }
  EXPECT_EQ(events_.Count("NodeNotInitialized"), 1);
  clock_.Advance(seconds(65));
  Sync({"a"});
  EXPECT_EQ(events_.Count("NodeNotInitialized"), 2);
  instances_.Set("a", ServerInState(plugin::v1::INSTANCE_STATE_UNKNOWN, "BadCredentials"));
  Sync({"a"});
  EXPECT_EQ(events_.Count("NodeNotInitialized"), 3);
  instances_.Set("a", FullServer("a"));
  Sync({"a"});
  EXPECT_EQ(events_.Count("Synced"), 1);
}

TEST_F(Initializer, P_D7_EveryWayToStayTaintedIsExplained) {
  Join("a");
  clock_.Advance(seconds(60));
  const auto reason_of = [&](const std::string& word) {
    Sync({"a"});
    clock_.Advance(seconds(5));
    Sync({"a"});
    return events_.Events().back().message.find(word) != std::string::npos;
  };
  instances_.Set("a", ServerInState(plugin::v1::INSTANCE_STATE_UNKNOWN, "Throttled"));
  EXPECT_TRUE(reason_of("Throttled"));
  instances_.Set("a", GoneServer());
  EXPECT_TRUE(reason_of("the cloud has no server for this node"));
  instances_.Forget("a");
  EXPECT_TRUE(reason_of("NoResult"));
  instances_.FailAll(Status(Code::kUnavailable, "NotStarted", "the plugin does not run"));
  EXPECT_TRUE(reason_of("NotStarted"));
  instances_.FailAll(Status());
  instances_.Set("a", FullServer("a"));
  api_.FailNext("PatchNode", Status(Code::kPermissionDenied, "Forbidden", "may not patch"), 2);
  EXPECT_TRUE(reason_of("Forbidden"));
}

TEST_F(Initializer, P_B6_AmbiguousNameWritesNothing) {
  Join("a");
  instances_.Set("a", ServerInState(plugin::v1::INSTANCE_STATE_UNKNOWN, "AmbiguousName"));
  EXPECT_EQ(Sync({"a"}), std::vector<std::string>{"a"});
  EXPECT_EQ(Writes(), 0);
}

// Answers about an earlier object of the same name are not for this one.
TEST_F(Initializer, P_B6_AnswersBelongToTheUidNotToTheName) {
  class OldAnswers final : public InstancesProvider {
   public:
    Status Describe(const std::vector<kube::NodePtr>& nodes, const DescribeOptions&,
                    const CallContext&, const OnResult& on_result, const OnEvent&) override {
      InstanceDescribeResult result = RunningServer("otc:///wrong");
      result.set_node_name(nodes[0]->meta.name);
      result.set_node_uid("uid-of-the-node-before");
      on_result(result);
      return Status::Ok();
    }
  };
  OldAnswers old_answers;
  Join("a");
  ControllerDeps deps = Deps();
  deps.instances = &old_answers;
  NodeInitializer initializer(deps, NodeControllerOptions{});
  EXPECT_EQ(initializer.Sync({"a"}, Context()), std::vector<std::string>{"a"});
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Initializer, N32_ANewRegistrationIsInitialisedAgain) {
  Join("a");
  Sync({"a"});
  api_.ChangeNode("a", R"({"spec":{"taints":[{"key":
      "node.cloudprovider.kubernetes.io/uninitialized","effect":"NoSchedule"}]},
      "metadata":{"labels":{"topology.kubernetes.io/zone":"bad"}}})");
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_FALSE(IsUninitialized(Stored("a")));
  EXPECT_EQ(Stored("a").meta.labels.at(kLabelZone), "eu-de-01");
  EXPECT_EQ(events_.Count("Synced"), 2);
}

TEST_F(Initializer, N34_NodeDeletedWhileDescribed) {
  Join("a");
  instances_.OnCall([&](const DescribeCall&) { api_.RemoveNode("a"); });
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_EQ(Writes(), 0);
  EXPECT_FALSE(Exists("a"));

  // The same, but the watch is late: the write meets 404.
  instances_.OnCall(nullptr);
  Join("b");
  instances_.OnCall([&](const DescribeCall&) {
    api_.MirrorTo(nullptr);
    api_.RemoveNode("b");
  });
  EXPECT_TRUE(Sync({"b"}).empty());
  EXPECT_FALSE(Exists("b"));
  EXPECT_EQ(events_.Count("Synced"), 0);
}

TEST_F(Initializer, N34_NodeReplacedWhileDescribedIsNotWritten) {
  Join("a");
  instances_.OnCall([&](const DescribeCall&) {
    api_.RemoveNode("a");
    kube::Node other = MakeNewNode("a");
    other.meta.uid = "another";
    api_.PutNode(other);
  });
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_TRUE(IsUninitialized(Stored("a")));
}

TEST_F(Initializer, N35_AddressFailureDoesNotUndoInitialisation) {
  Join("a");
  api_.OnCall([&](const kube::RecordedCall& call) {
    if (call.subresource == "status") {
      api_.FailNext("PatchNode", Status(Code::kUnavailable, "InternalError", "500"));
    }
  });
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_EQ(events_.Count("Synced"), 1);
  EXPECT_FALSE(IsUninitialized(Stored("a")));
  EXPECT_EQ(Stored("a").addresses.size(), 1U);
  EXPECT_EQ(api_.Calls("PatchNode").size(), 2U);
}

TEST_F(Initializer, OneBadNodeDoesNotHarmTheOthers) {
  for (const char* name : {"a", "b", "c", "d"}) Join(name);
  instances_.Set("b", ServerInState(plugin::v1::INSTANCE_STATE_UNKNOWN, "Throttled"));
  instances_.Forget("c");
  EXPECT_EQ(Sync({"a", "b", "c", "d"}), (std::vector<std::string>{"b", "c"}));
  EXPECT_FALSE(IsUninitialized(Stored("a")));
  EXPECT_FALSE(IsUninitialized(Stored("d")));
  EXPECT_EQ(DescribeCalls(), 1);
}

// The one slot of the ABI whose results count although it failed.
TEST_F(Initializer, ResultsCountEvenIfTheCallFails) {
  Join("a");
  Join("b");
  instances_.Forget("b");
  instances_.EndWith(Status(Code::kDeadlineExceeded, "CallOverrun", "too slow"));
  EXPECT_EQ(Sync({"a", "b"}), std::vector<std::string>{"b"});
  EXPECT_FALSE(IsUninitialized(Stored("a")));
}

TEST_F(Initializer, UnusableZoneIsLeftOutAndTold) {
  Join("a");
  InstanceDescribeResult result = FullServer("a");
  result.mutable_metadata()->set_zone("eu de 01");
  instances_.Set("a", result);
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_FALSE(IsUninitialized(Stored("a")));
  EXPECT_EQ(Stored("a").meta.labels.count(kLabelZone), 0U);
  EXPECT_EQ(events_.Count("UnusableLabel"), 1);
}

TEST_F(Initializer, EventsOfThePluginAreAboutTheirNode) {
  Join("a");
  plugin::v1::EventRecord event;
  event.set_type(plugin::v1::EVENT_TYPE_WARNING);
  event.set_reason("TwoNetworks");
  event.set_about_uid("uid-a");
  instances_.Emit(event);
  event.set_about_uid("nobody");
  instances_.Emit(event);
  Sync({"a"});
  EXPECT_EQ(events_.Count("TwoNetworks"), 1);
}

TEST_F(Initializer, E20_ShutGateLetsNoWritePass) {
  Join("a");
  gate_.open = false;
  EXPECT_EQ(Sync({"a"}), std::vector<std::string>{"a"});
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Initializer, E20_GateIsAskedBeforeEachWrite) {
  Join("a");
  api_.OnCall([&](const kube::RecordedCall& call) {
    if (call.method == "PatchNode") gate_.open = false;
  });
  EXPECT_TRUE(Sync({"a"}).empty());
  EXPECT_EQ(Writes(), 1) << "the addresses must not follow";
}

TEST_F(Initializer, WritesEndWithTheLease) {
  Join("a");
  gate_.until = clock_.Now() + seconds(7);
  class Recorder final : public kube::ForwardingKubeApi {
   public:
    using ForwardingKubeApi::ForwardingKubeApi;
    Result<kube::Node> PatchNode(const std::string& name, kube::PatchType type,
                                 const std::string& body, const std::string& subresource,
                                 const CallContext& context) override {
      deadlines.push_back(context.deadline);
      return ForwardingKubeApi::PatchNode(name, type, body, subresource, context);
    }
    std::vector<MonoTime> deadlines;
  };
  Recorder recorder(api_);
  const ControllerDeps deps{lister_, recorder, events_, gate_,   &instances_,
                            clock_,  random_,  log_,    metrics_};
  NodeInitializer initializer(deps, NodeControllerOptions{});
  initializer.Sync({"a"}, Context());
  ASSERT_EQ(recorder.deadlines.size(), 2U);
  for (const MonoTime deadline : recorder.deadlines) EXPECT_EQ(deadline, gate_.until);
}

}  // namespace
}  // namespace otc::host
