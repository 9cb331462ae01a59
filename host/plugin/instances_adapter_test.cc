// The node plugin as the controllers see it: a real plugin emits prepared results.
#include "host/plugin/instances_adapter.h"

#include <gtest/gtest.h>

#include <thread>

#include "host/base/strings.h"
#include "host/plugin/test_support.h"

namespace otc::host::plugin_host {
namespace {

using plugin::v1::InstanceDescribeResult;
using plugin::v1::InstanceState;

kube::NodePtr MakeNode(const std::string& name) {
  auto node = std::make_shared<kube::Node>();
  node->meta.name = name;
  node->meta.uid = "uid-" + name;
  node->meta.labels = {{"zone", "z"}};
  node->meta.creation_unix_ms = 42;
  node->provider_id = "otc:///" + name;
  node->addresses = {{"InternalIP", "10.0.0.1"}};
  node->ready = kube::Tristate::kTrue;
  node->system_uuid = "sys";
  node->taints = {{"t", "", "NoSchedule", ""}};
  return node;
}

InstanceDescribeResult MakeResult(const std::string& node, InstanceState state) {
  InstanceDescribeResult result;
  result.set_node_name(node);
  result.set_state(state);
  return result;
}

struct AdapterFixture : ManagerFixture, testing::Test {
  std::vector<InstanceDescribeResult> results;
  std::vector<plugin::v1::EventRecord> events;

  static std::string Word(const std::string& word, const std::string& bytes) {
    return word + "=" + HexEncode(bytes) + " ";
  }
  static std::string Emit(const InstanceDescribeResult& result) {
    return Word("emit", result.SerializeAsString());
  }
  // Starts the plugin with this script for describe and asks about a and b.
  Status Describe(const std::string& script, std::vector<std::string> names = {"a", "b"}) {
    Add("scripted", "{\"describe\":\"" + script + "\"}");
    Start();
    return Ask(names);
  }
  Status Ask(const std::vector<std::string>& names) {
    std::vector<kube::NodePtr> nodes;
    for (const std::string& name : names) nodes.push_back(MakeNode(name));
    CallContext context;
    context.clock = &clock;
    context.request_id = "r-1";
    return manager->Instances()->Describe(
        nodes, {true, 7}, context, [this](const auto& result) { results.push_back(result); },
        [this](const auto& event) { events.push_back(event); });
  }
  double Dropped(const std::string& why) {
    return metrics.Sum("otc_plugin_results_dropped_total", {{"plugin", "scripted"}, {"why", why}});
  }
};

using InstancesTest = AdapterFixture;

TEST_F(InstancesTest, TheRequestHoldsClusterNodesAndOptions) {
  ASSERT_TRUE(Describe("request").ok());
  const std::string hex = LineWith("request ");
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  plugin::v1::InstanceDescribeRequest request;
  ASSERT_TRUE(request.ParseFromString(bytes));
  EXPECT_EQ(request.cluster().name(), "test");
  EXPECT_EQ(request.cluster().uid(), "uid-of-kube-system");
  EXPECT_TRUE(request.want_metadata());
  EXPECT_EQ(request.max_age_ms(), 7u);
  ASSERT_EQ(request.nodes_size(), 2);
  const auto& node = request.nodes(1);
  EXPECT_EQ(node.name(), "b");
  EXPECT_EQ(node.uid(), "uid-b");
  EXPECT_EQ(node.provider_id(), "otc:///b");
  EXPECT_TRUE(node.labels().empty());  // found by its providerID
  EXPECT_EQ(node.addresses(0).address(), "10.0.0.1");
  EXPECT_TRUE(node.ready());
  EXPECT_EQ(node.system_uuid(), "sys");
  EXPECT_EQ(node.created_unix_ms(), 42);
  EXPECT_EQ(node.taint_keys(0), "t");
}

TEST_F(InstancesTest, BadUtf8InALabelDoesNotFailTheRequest) {
  auto node = std::make_shared<kube::Node>(*MakeNode("a"));
  node->provider_id.clear();
  node->meta.annotations["x"] = "bad\xff";
  plugin::v1::InstanceDescribeRequest request;
  ASSERT_TRUE(request.ParseFromString(EncodeNodes({node})));
  EXPECT_EQ(request.nodes(0).annotations().at("x"), "bad\xEF\xBF\xBD");
  EXPECT_EQ(request.nodes(0).labels().at("zone"), "z");
}

TEST_F(InstancesTest, ResultsCountEvenIfTheCallFails) {
  const Status status =
      Describe(Emit(MakeResult("a", plugin::v1::INSTANCE_STATE_RUNNING)) + "fail=14:CloudAway:no");
  EXPECT_EQ(status.reason(), "CloudAway");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].state(), plugin::v1::INSTANCE_STATE_RUNNING);
}

TEST_F(InstancesTest, EventsArrive) {
  plugin::v1::EventRecord event;
  event.set_reason("TwoServers");
  event.set_about_uid("uid-a");
  ASSERT_TRUE(Describe(Word("event", event.SerializeAsString()) + Word("event", "\xff\xff")).ok());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(Dropped("event_not_parsable"), 1);
  EXPECT_EQ(events[0].reason(), "TwoServers");
}

TEST_F(InstancesTest, GoneNeedsAProofThatIsNewerThanTheQuestion) {
  const std::int64_t now = UnixMillis(clock.Wall());
  const auto gone = [&](const std::string& node, plugin::v1::ProofMethod method,
                        std::int64_t observed) {
    InstanceDescribeResult result = MakeResult(node, plugin::v1::INSTANCE_STATE_GONE);
    result.mutable_proof()->set_method(method);
    result.mutable_proof()->set_observed_unix_ms(observed);
    return Emit(result);
  };
  const auto by_id = plugin::v1::PROOF_METHOD_GET_BY_ID;
  ASSERT_TRUE(Describe(gone("proved", by_id, now) + gone("stale", by_id, now - 1) +
                           gone("none", plugin::v1::PROOF_METHOD_NONE, now) +
                           gone("odd", static_cast<plugin::v1::ProofMethod>(9), now) +
                           Emit(MakeResult("bare", plugin::v1::INSTANCE_STATE_GONE)),
                       {"proved", "stale", "none", "odd", "bare"})
                  .ok());
  ASSERT_EQ(results.size(), 5u);
  EXPECT_EQ(results[0].state(), plugin::v1::INSTANCE_STATE_GONE);
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(results[i].state(), plugin::v1::INSTANCE_STATE_UNKNOWN) << results[i].node_name();
    EXPECT_EQ(results[i].reason(), "GoneWithoutProof");
  }
  EXPECT_EQ(Dropped("gone_without_proof"), 4);
}

TEST_F(InstancesTest, DuplicatesUnknownNodesOtherUidsAndGarbageAreDroppedAndCounted) {
  InstanceDescribeResult other = MakeResult("b", plugin::v1::INSTANCE_STATE_GONE);
  other.set_node_uid("uid-of-an-older-b");
  ASSERT_TRUE(Describe(Emit(MakeResult("a", plugin::v1::INSTANCE_STATE_RUNNING)) +
                       Emit(MakeResult("a", plugin::v1::INSTANCE_STATE_SHUT_DOWN)) +
                       Emit(MakeResult("c", plugin::v1::INSTANCE_STATE_RUNNING)) +
                       Emit(MakeResult("", plugin::v1::INSTANCE_STATE_RUNNING)) + Emit(other) +
                       Word("emit", "\xff\xff"))
                  .ok());
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].state(), plugin::v1::INSTANCE_STATE_RUNNING);
  EXPECT_EQ(Dropped("duplicate"), 1);
  EXPECT_EQ(Dropped("unknown_node"), 2);
  EXPECT_EQ(Dropped("other_uid"), 1);
  EXPECT_EQ(Dropped("not_parsable"), 1);
}

TEST_F(InstancesTest, AStateFromTheFutureIsUnknown) {
  ASSERT_TRUE(Describe(Emit(MakeResult("a", static_cast<InstanceState>(99)))).ok());
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].state(), plugin::v1::INSTANCE_STATE_UNKNOWN);
}

TEST_F(InstancesTest, DescribeMayReadTheCloudButNotWrite) {
  plugin::v1::CloudBatch read;
  read.add_requests()->set_service("ecs");
  read.mutable_requests(0)->set_method("GET");
  read.mutable_requests(0)->set_path("/v1/servers");
  read.mutable_requests(0)->set_effect(plugin::v1::EFFECT_READ);
  plugin::v1::CloudBatch write = read;
  write.mutable_requests(0)->set_method("POST");
  write.mutable_requests(0)->set_effect(plugin::v1::EFFECT_WRITE);
  ASSERT_TRUE(Describe(Word("exchange", read.SerializeAsString()) +
                       Word("exchange", write.SerializeAsString()))
                  .ok());
  EXPECT_EQ(exchange.Requests(), std::vector<std::string>{"scripted ecs GET /v1/servers"});
  EXPECT_EQ(CountLines("exchange 0"), 1);
  EXPECT_EQ(CountLines("exchange 9"), 1) << "FAILED_PRECONDITION";
  EXPECT_EQ(Plugin().plugin_bugs, 1u);
}

TEST_F(InstancesTest, AtMostTwoDescribesRunAtOnce) {
  const std::string release = dir.File("release");
  Add("scripted", "{\"describe\":\"hang=" + release + "\"}");
  Start();
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([this] {
      CallContext context;
      context.clock = &clock;
      EXPECT_TRUE(manager->Instances()
                      ->Describe(
                          {}, {}, context, [](const auto&) {}, nullptr)
                      .ok());
    });
  }
  ASSERT_TRUE(Eventually([&] { return CountLines("INFO slot describe") == 2; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(CountLines("INFO slot describe"), 2);
  WriteFile(release, "");
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(CountLines("INFO slot describe"), 3);
}

}  // namespace
}  // namespace otc::host::plugin_host
