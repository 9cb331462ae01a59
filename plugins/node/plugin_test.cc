// node.so through the harness: what it says of nodes in every situation, and how
// many calls that costs.
#include <gtest/gtest.h>

#include <thread>

#include "plugins/node/testing/fixture.h"

namespace otc::node {
namespace {

using harness::ScriptedCloud;
using testing::FakeServer;
using testing::PluginTest;
using testing::Uuid;
namespace pb = otc::plugin::v1;

constexpr auto kRunning = pb::INSTANCE_STATE_RUNNING;
constexpr auto kShutDown = pb::INSTANCE_STATE_SHUT_DOWN;
constexpr auto kGone = pb::INSTANCE_STATE_GONE;
constexpr auto kForeign = pb::INSTANCE_STATE_FOREIGN;
constexpr auto kUnknown = pb::INSTANCE_STATE_UNKNOWN;

std::string Addresses(const pb::InstanceMetadata& metadata) {
  std::string text;
  for (const auto& address : metadata.addresses()) {
    text += (text.empty() ? "" : " ") + address.type() + "=" + address.address();
  }
  return text;
}

class NodePluginTest : public PluginTest {};

TEST_F(NodePluginTest, N01_EverythingThatAKubernetesNodeNeeds) {
  FakeServer server;
  server.id = Uuid(1);
  server.name = "node-1";
  server.addresses_json = R"("vpc-1":[{"addr":"10.0.0.5","OS-EXT-IPS:type":"fixed","version":"4"},)"
                          R"({"addr":"80.158.1.2","OS-EXT-IPS:type":"floating","version":"4"},)"
                          R"({"addr":"fd00::5","OS-EXT-IPS:type":"fixed","version":"6"}])";
  ecs_.Add(server);
  const auto result = DescribeOne("node-1", "");
  EXPECT_EQ(result.state(), kRunning);
  EXPECT_EQ(result.reason(), "");
  EXPECT_EQ(result.observed_unix_ms(), host_.clock().UnixMs());
  EXPECT_FALSE(result.has_proof());
  EXPECT_EQ(result.metadata().provider_id(), "otc:///" + Uuid(1));
  EXPECT_EQ(result.metadata().instance_type(), "s3.medium.2");
  EXPECT_EQ(result.metadata().zone(), "eu-de-01");
  EXPECT_EQ(result.metadata().region(), "eu-de");
  EXPECT_EQ(Addresses(result.metadata()),
            "InternalIP=10.0.0.5 InternalIP=fd00::5 ExternalIP=80.158.1.2 Hostname=node-1");
  EXPECT_TRUE(last_.events.empty());
  EXPECT_EQ(host_.metrics().Value("results_total", {"running"}), 1);
}

TEST_F(NodePluginTest, MetadataOnlyWhenAskedFor) {
  ecs_.AddMany(1, "n");
  pb::InstanceDescribeRequest request = Nodes(1, "n");
  request.set_want_metadata(false);
  const auto results = Results(Describe(request));
  EXPECT_EQ(results.at("n0").state(), kRunning);
  EXPECT_FALSE(results.at("n0").has_metadata());
}

TEST_F(NodePluginTest, BothFormsOfTheProviderIdAreRead) {
  ecs_.AddMany(1, "n");
  for (const char* prefix : {"otc:///", "otc://"}) {
    const auto result = DescribeOne("other-name", prefix + Uuid(0));
    EXPECT_EQ(result.state(), kRunning) << prefix;
    EXPECT_EQ(result.metadata().provider_id(), "otc:///" + Uuid(0));
  }
}

TEST_F(NodePluginTest, L16_NodesOfOthersAreLeftAloneWithoutACall) {
  EXPECT_EQ(DescribeOne("a", "aws:///eu-central-1a/i-1").state(), kForeign);
  EXPECT_EQ(DescribeOne("a", "aws:///eu-central-1a/i-1").reason(), "ForeignProviderID");
  EXPECT_EQ(DescribeOne("a", "otc:///not-a-uuid").state(), kForeign);
  EXPECT_EQ(DescribeOne("a", "otc:///not-a-uuid").reason(), "MalformedProviderID");
  EXPECT_TRUE(ecs_.requests().empty());
}

TEST_F(NodePluginTest, L05_StatesOfTheServer) {
  const std::pair<const char*, pb::InstanceState> cases[] = {
      {"ACTIVE", kRunning},    {"SHUTOFF", kShutDown},  {"SHELVED_OFFLOADED", kShutDown},
      {"SHELVED", kShutDown},  {"PAUSED", kShutDown},   {"SUSPENDED", kShutDown},
      {"BUILD", kRunning},     {"ERROR", kRunning},     {"REBOOT", kRunning},
      {"MIGRATING", kRunning}, {"RESIZE", kRunning},    {"UNKNOWN", kRunning},
      {"NEW_WORD", kRunning},  {"SOFT_DELETED", kGone}, {"DELETED", kGone},
      {"", kUnknown},
  };
  ecs_.AddMany(1, "n");
  for (const auto& [status, state] : cases) {
    ecs_.At(Uuid(0)).status = status;
    const auto result = DescribeOne("n0", "otc:///" + Uuid(0));
    EXPECT_EQ(result.state(), state) << status;
    if (state == kShutDown) {
      EXPECT_EQ(result.reason(), "ServerNotActive");
    }
    if (state == kGone) {
      EXPECT_EQ(result.proof().method(), pb::PROOF_METHOD_STATUS_DELETED);
      EXPECT_EQ(result.proof().http_status(), 200u);
      EXPECT_EQ(result.proof().request_id(), "scripted-request");
    }
  }
}

TEST_F(NodePluginTest, L17_AServersAbsenceIsProvedByTheServiceItself) {
  const auto result = DescribeOne("n0", "otc:///" + Uuid(0));
  EXPECT_EQ(result.state(), kGone);
  EXPECT_EQ(result.reason(), "ServerGone");
  EXPECT_EQ(result.proof().method(), pb::PROOF_METHOD_GET_BY_ID);
  EXPECT_EQ(result.proof().http_status(), 404u);
  EXPECT_EQ(result.proof().service_code(), "Ecs.0114");
  EXPECT_EQ(result.proof().request_id(), "scripted-request");
  EXPECT_EQ(result.proof().observed_unix_ms(), host_.clock().UnixMs());
  EXPECT_NE(result.message().find("scripted-request"), std::string::npos);
}

TEST_F(NodePluginTest, L17_AnAbsenceOutOfACacheIsAskedForAgain) {
  pb::InstanceDescribeRequest request;
  AddNode(&request, "n0", "otc:///" + Uuid(0));
  request.set_max_age_ms(30'000);
  const auto results = Results(Describe(request));
  EXPECT_EQ(results.at("n0").state(), kGone);
  ASSERT_EQ(ecs_.gets(), 2);
  EXPECT_EQ(ecs_.lists(), 0);
  EXPECT_EQ(ecs_.requests()[0].max_age_ms(), 30'000u);
  EXPECT_EQ(ecs_.requests()[1].max_age_ms(), 0u) << "a proof is never older than the question";
}

TEST_F(NodePluginTest, SEED_ManyNodesCostOneListHoweverManyTheyAre) {
  ecs_.AddMany(5000, "n");
  const auto call = Describe(Nodes(5000, "n"));
  EXPECT_TRUE(call.ok()) << call.status().ToString();
  EXPECT_EQ(CountStates(call)[kRunning], 5000);
  EXPECT_EQ(ecs_.lists(), 25);
  EXPECT_EQ(ecs_.gets(), 0);
  EXPECT_EQ(host_.metrics().Value("list_pages_total"), 25);
}

TEST_F(NodePluginTest, P_E1_TheCheaperWayIsTaken) {
  ecs_.AddMany(1000, "n");
  Describe(Nodes(1, "n"));
  EXPECT_EQ(ecs_.lists(), 0);
  EXPECT_EQ(ecs_.gets(), 1);

  ecs_.ResetCounts();
  Describe(Nodes(4, "n"));  // the size of the project is not known yet: one list is assumed
  EXPECT_EQ(ecs_.gets(), 0);
  EXPECT_EQ(ecs_.lists(), 5);

  ecs_.ResetCounts();
  Describe(Nodes(4, "n"));  // five pages: four GETs are fewer
  EXPECT_EQ(ecs_.gets(), 4);
  EXPECT_EQ(ecs_.lists(), 0);

  ecs_.ResetCounts();
  Describe(Nodes(900, "n"));
  EXPECT_EQ(ecs_.gets(), 0);
  EXPECT_EQ(ecs_.lists(), 5);
}

TEST_F(NodePluginTest, P_D8_FiveHundredNewNodesCostAFewCalls) {
  ecs_.AddMany(500, "node-");
  pb::InstanceDescribeRequest request;
  for (int i = 0; i < 500; ++i) AddNode(&request, "node-" + std::to_string(i), "", Uuid(i));
  request.set_want_metadata(true);
  const auto call = Describe(request);
  EXPECT_EQ(CountStates(call)[kRunning], 500);
  EXPECT_EQ(Results(call).at("node-7").metadata().provider_id(), "otc:///" + Uuid(7));
  EXPECT_EQ(ecs_.lists() + ecs_.gets(), 3);
}

TEST_F(NodePluginTest, P_D8_OneNewNodeIsFoundByItsSystemUuidInOneCall) {
  ecs_.AddMany(1000, "node-");
  const auto result = DescribeOne("node-7", "", Uuid(7));
  EXPECT_EQ(result.metadata().provider_id(), "otc:///" + Uuid(7));
  EXPECT_EQ(ecs_.gets(), 1);
  EXPECT_EQ(ecs_.lists(), 0);
}

TEST_F(NodePluginTest, ANewNodeWithoutAUuidIsSearchedByName) {
  ecs_.AddMany(1000, "node-");
  const auto result = DescribeOne("node-7", "");
  EXPECT_EQ(result.metadata().provider_id(), "otc:///" + Uuid(7)) << "node-70 … are not it";
  EXPECT_EQ(ecs_.gets(), 0);
  EXPECT_EQ(ecs_.lists(), 1);
}

TEST_F(NodePluginTest, ANewNodeThatTheListLacksIsFoundByItsUuid) {
  ecs_.AddMany(3, "node-");
  for (int i = 0; i < 3; ++i) ecs_.At(Uuid(i)).listed = false;
  pb::InstanceDescribeRequest request;
  for (int i = 0; i < 3; ++i) AddNode(&request, "node-" + std::to_string(i), "", Uuid(i));
  EXPECT_EQ(CountStates(Describe(request))[kRunning], 3);
  EXPECT_EQ(ecs_.lists(), 1);
  EXPECT_EQ(ecs_.gets(), 3);
}

TEST_F(NodePluginTest, L15_ANewNodeWithoutAServerIsUnknownNeverGone) {
  ecs_.AddMany(3, "other-");
  for (const std::string& uuid : {std::string(), Uuid(77), Uuid(1), std::string("no uuid")}) {
    const auto result = DescribeOne("node-1", "", uuid);
    EXPECT_EQ(result.state(), kUnknown) << uuid;
    EXPECT_EQ(result.reason(), "ServerNotFound");
    EXPECT_NE(result.message().find("node-1"), std::string::npos);
  }
  ecs_.ResetCounts();
  DescribeOne("node-1", "", Uuid(77));
  EXPECT_EQ(ecs_.gets(), 1) << "asked once, not again behind the search";
  EXPECT_EQ(ecs_.lists(), 1);
}

TEST_F(NodePluginTest, P_B6_TwoServersWithOneNameAreNotGuessed) {
  ecs_.AddMany(3, "n");
  for (int i = 0; i < 2; ++i) ecs_.At(Uuid(i)).name = "twin";
  const auto result = DescribeOne("twin", "");
  EXPECT_EQ(result.state(), kUnknown);
  EXPECT_EQ(result.reason(), "AmbiguousServerName");
  EXPECT_NE(result.message().find(Uuid(0)), std::string::npos);
  EXPECT_NE(result.message().find(Uuid(1)), std::string::npos);
  EXPECT_EQ(DescribeOne("twin", "", Uuid(9)).state(), kUnknown) << "none of them has that UUID";

  // The system UUID decides, alone and in a batch.
  EXPECT_EQ(DescribeOne("twin", "", Uuid(1)).metadata().provider_id(), "otc:///" + Uuid(1));
  pb::InstanceDescribeRequest request;
  AddNode(&request, "twin", "", Uuid(1));
  AddNode(&request, "n2", "");
  request.set_want_metadata(true);
  const auto results = Results(Describe(request));
  EXPECT_EQ(results.at("twin").metadata().provider_id(), "otc:///" + Uuid(1));
  EXPECT_EQ(results.at("n2").state(), kRunning);

  // One of them is being deleted: only the other one is left.
  ecs_.At(Uuid(0)).status = "SOFT_DELETED";
  EXPECT_EQ(DescribeOne("twin", "").metadata().provider_id(), "otc:///" + Uuid(1));
}

TEST_F(NodePluginTest, P_B6_ANodeWithAProviderIdIsNeverLookedUpByName) {
  ecs_.AddMany(2, "n");
  ecs_.At(Uuid(1)).name = "renamed";
  const auto result = DescribeOne("n0", "otc:///" + Uuid(1));
  EXPECT_EQ(result.metadata().provider_id(), "otc:///" + Uuid(1));
  ecs_.Remove(Uuid(1));
  EXPECT_EQ(DescribeOne("n0", "otc:///" + Uuid(1)).state(), kGone) << "though n0 exists";
}

TEST_F(NodePluginTest, TwoNodesMayNameOneServer) {
  ecs_.AddMany(1, "n");
  pb::InstanceDescribeRequest request;
  AddNode(&request, "a", "otc:///" + Uuid(0));
  AddNode(&request, "b", "otc://" + Uuid(0));
  EXPECT_EQ(CountStates(Describe(request))[kRunning], 2);
}

TEST_F(NodePluginTest, L14_AListThatLagsIsBelievedOnlyForWhatItShows) {
  ecs_.AddMany(100, "n");
  ecs_.At(Uuid(3)).listed = false;  // just made
  ecs_.At(Uuid(4)).listed = false;
  ecs_.At(Uuid(4)).present = false;  // gone
  ecs_.At(Uuid(5)).status = "DELETED";
  const auto results = Results(Describe(Nodes(100, "n")));
  EXPECT_EQ(results.size(), 100u);
  EXPECT_EQ(results.at("n3").state(), kRunning);
  EXPECT_EQ(results.at("n4").state(), kGone);
  EXPECT_EQ(results.at("n5").state(), kGone);
  EXPECT_EQ(results.at("n5").proof().method(), pb::PROOF_METHOD_STATUS_DELETED);
  EXPECT_EQ(ecs_.lists(), 1);
  EXPECT_EQ(ecs_.gets(), 3);
}

TEST_F(NodePluginTest, P_D1_AnEmptyListProvesNothing) {
  ecs_.AddMany(300, "n");
  ecs_.SetHook([](const pb::CloudRequest& request) -> std::optional<pb::CloudResponse> {
    if (request.path().find("detail") == std::string::npos) return std::nullopt;
    return ScriptedCloud::Reply(200, R"({"count":0,"servers":[]})");
  });
  const auto request = Nodes(300, "n");
  const auto call = Describe(request);
  const auto states = CountStates(call);
  EXPECT_EQ(states.count(kGone), 0u);
  EXPECT_EQ(states.at(kRunning), 64) << "proved to be there, one by one";
  EXPECT_EQ(states.at(kUnknown), 300 - 64) << "not asked for: the number of calls is bounded";
  EXPECT_EQ(ecs_.gets(), 64);
  EXPECT_EQ(host_.metrics().Value("lookups_deferred_total"), 300 - 64);

  // Whoever was left out is asked for in the next calls.
  std::map<std::string, int> looked_up;
  for (int round = 0; round < 5; ++round) {
    for (const auto& [name, result] : Results(Describe(request))) {
      if (result.state() == kRunning) ++looked_up[name];
      if (result.state() == kUnknown) {
        EXPECT_EQ(result.reason(), "LookupLimit");
      }
    }
  }
  EXPECT_EQ(looked_up.size(), 300u);
}

TEST_F(NodePluginTest, AnAzWithABlankGivesNoLabelAndAnEvent) {
  FakeServer server;
  server.id = Uuid(1);
  server.name = "node-1";
  server.zone = "eu-de 01";
  server.flavor = std::string(64, 'x');
  ecs_.Add(server);
  const auto result = DescribeOne("node-1", "otc:///" + Uuid(1));
  EXPECT_EQ(result.state(), kRunning);
  EXPECT_EQ(result.reason(), "InvalidZoneLabel");
  EXPECT_EQ(result.metadata().zone(), "");
  EXPECT_EQ(result.metadata().instance_type(), "");
  EXPECT_EQ(result.metadata().region(), "eu-de");
  EXPECT_EQ(result.metadata().provider_id(), "otc:///" + Uuid(1));
  ASSERT_EQ(last_.events.size(), 2u);
  EXPECT_EQ(last_.events[0].type(), pb::EVENT_TYPE_WARNING);
  EXPECT_EQ(last_.events[0].reason(), "InvalidZoneLabel");
  EXPECT_EQ(last_.events[0].about_uid(), "uid-node-1");
  EXPECT_NE(last_.events[0].message().find("eu-de 01"), std::string::npos);
  EXPECT_EQ(last_.events[1].reason(), "InvalidInstanceTypeLabel");
}

TEST_F(NodePluginTest, P_H4_TheNetworkChoiceAndItsReload) {
  FakeServer server;
  server.id = Uuid(1);
  server.name = "node-1";
  server.addresses_json = R"("vpc-1":[{"addr":"10.0.0.5"},{"addr":"192.168.0.5"}])";
  ecs_.Add(server);
  Create(R"({"network":{"internalCIDRs":["192.168.0.0/16"]}})");
  const auto describe = [&] { return DescribeOne("node-1", "otc:///" + Uuid(1)); };
  EXPECT_EQ(Addresses(describe().metadata()), "InternalIP=192.168.0.5 Hostname=node-1");

  const auto reload = [&](const std::string& settings) {
    return instance_->Reconfigure(harness::DefaultConfig("controllers", settings));
  };
  EXPECT_TRUE(reload(R"({"network":{"internalCIDRs":["172.16.0.0/12"]}})").ok());
  EXPECT_EQ(Addresses(describe().metadata()), "");
  EXPECT_EQ(describe().reason(), "NoAddressInNetwork");
  EXPECT_EQ(describe().state(), kRunning) << "only the addresses are in doubt";

  EXPECT_EQ(reload(R"({"network":{"internalCIDRs":["x"]}})").reason, "BadSettings");
  EXPECT_EQ(describe().reason(), "NoAddressInNetwork") << "the old settings stay in force";
  EXPECT_TRUE(reload("{}").ok());
  EXPECT_EQ(Addresses(describe().metadata()),
            "InternalIP=10.0.0.5 InternalIP=192.168.0.5 Hostname=node-1");
}

TEST_F(NodePluginTest, TheAgeOfAnAnswerIsTheHostsBusiness) {
  ecs_.AddMany(20, "n");
  auto request = Nodes(20, "n");
  request.set_max_age_ms(120'000);
  Describe(request);
  ASSERT_EQ(ecs_.requests().size(), 1u);
  EXPECT_EQ(ecs_.requests()[0].max_age_ms(), 120'000u);
}

TEST_F(NodePluginTest, ACancelledCallEndsAndSaysNothingWrong) {
  ecs_.AddMany(1000, "n");
  auto token = std::make_shared<harness::CancelToken>();
  ecs_.SetHook([&](const pb::CloudRequest&) -> std::optional<pb::CloudResponse> {
    if (ecs_.lists() == 2) token->Cancel();
    return std::nullopt;
  });
  harness::CallOptions options;
  options.cancel = token;
  const auto call = instance_->Describe(Nodes(1000, "n"), options);
  EXPECT_EQ(call.code, OTC_CANCELLED);
  EXPECT_LE(ecs_.lists(), 3);
  for (const auto& [name, result] : Results(call)) EXPECT_EQ(result.state(), kRunning);
}

TEST_F(NodePluginTest, AnEmptyRequestCostsNothing) {
  const auto call = Describe({});
  EXPECT_TRUE(call.ok());
  EXPECT_TRUE(call.results.empty());
  EXPECT_TRUE(ecs_.requests().empty());
}

TEST_F(NodePluginTest, TwoCallsAtOnce) {
  ecs_.AddMany(300, "n");
  const auto request = Nodes(300, "n");
  std::thread other([&] { EXPECT_EQ(CountStates(Describe(request))[kRunning], 300); });
  EXPECT_EQ(CountStates(Describe(request))[kRunning], 300);
  other.join();
}

TEST_F(NodePluginTest, BadConfigurationIsRefused) {
  auto library = harness::PluginLibrary::Load(OTC_NODE_PLUGIN);
  ASSERT_TRUE(library.ok());
  EXPECT_EQ(library->manifest().id, "node");
  harness::InstanceOptions options;
  options.config = harness::DefaultConfig("controllers", R"({"zone":"x"})");
  const auto made = harness::Instance::Create(*library, host_, options);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().reason(), "BadSettings");
  options.config = harness::DefaultConfig("csi-node");
  EXPECT_EQ(harness::Instance::Create(*library, host_, options).status().reason(), "NotConfigured");
}

}  // namespace
}  // namespace otc::node
