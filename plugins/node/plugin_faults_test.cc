// node.so through the harness while the cloud misbehaves: whatever it answers to a
// GET, to a proof or to the list, no node is called gone, and the others are told.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plugins/node/testing/fixture.h"

namespace otc::node {
namespace {

using harness::ScriptedCloud;
using testing::PluginTest;
using testing::Uuid;
namespace pb = otc::plugin::v1;

constexpr auto kRunning = pb::INSTANCE_STATE_RUNNING;
constexpr auto kUnknown = pb::INSTANCE_STATE_UNKNOWN;

class NodePluginFaultTest : public PluginTest {};

struct Fault {
  const char* name;
  std::function<pb::CloudResponse()> answer;
  const char* reason;
};

std::vector<Fault> Faults() {
  const auto reply = [](int status, const std::string& body, const std::string& service_code = "") {
    return [=] {
      pb::CloudResponse response = ScriptedCloud::Reply(status, body);
      response.set_service_code(service_code);
      return response;
    };
  };
  return {
      {"time-out", &ScriptedCloud::Unclear, "CloudUnreachable"},
      {"not sent", &ScriptedCloud::NotSent, "CloudUnreachable"},
      {"no answer at all", [] { return pb::CloudResponse(); }, "CloudUnreachable"},
      {"401", reply(401, "{}", "APIGW.0301"), "AccessDenied"},
      {"403", reply(403, "{}", "Ecs.0110"), "AccessDenied"},
      {"404 of the gateway", reply(404, "{}", "APIGW.0101"), "AbsenceNotProven"},
      {"404 of a proxy", reply(404, "<html>not found</html>"), "AbsenceNotProven"},
      {"429", reply(429, "{}", "APIGW.0308"), "CloudThrottled"},
      {"500", reply(500, "{}", "Common.0001"), "CloudError"},
      {"503", reply(503, ""), "CloudError"},
      {"400", reply(400, "{}", "Ecs.0005"), "CloudError"},
      {"302", reply(302, ""), "CloudError"},
      {"empty body", reply(200, ""), "BadCloudAnswer"},
      {"garbage", reply(200, std::string("\0\xff<html>", 8)), "BadCloudAnswer"},
      {"truncated", reply(200, R"({"server":{"id":")" + Uuid(0)), "BadCloudAnswer"},
      {"another kind of answer", reply(200, R"({"volumes":[]})"), "BadCloudAnswer"},
      {"another server", reply(200, R"({"server":{"id":")" + Uuid(9) + R"(","status":"DELETED"}})"),
       "BadCloudAnswer"},
      {"wrong types", reply(200, R"({"server":{"id":")" + Uuid(0) + R"(","status":["DELETED"]}})"),
       "BadServerData"},
      {"202 instead of 200", reply(202, R"({"error":{"code":"Common.0024"}})"), "BadCloudAnswer"},
      {"absence told with a 500",
       [] {
         pb::CloudResponse response = ScriptedCloud::Reply(500, "{}");
         response.set_proves_absence(true);
         return response;
       },
       "CloudError"},
      {"absence told by nobody",
       [] {
         pb::CloudResponse response = ScriptedCloud::Unclear();
         response.set_http_status(404);
         response.set_proves_absence(true);
         return response;
       },
       "CloudUnreachable"},
  };
}

TEST_F(NodePluginFaultTest, P_D1_L03_NoFaultOfASingleGetIsAnAbsence) {
  for (const Fault& fault : Faults()) {
    SCOPED_TRACE(fault.name);
    ecs_.SetHook([&](const pb::CloudRequest&) { return fault.answer(); });
    const auto result = DescribeOne("n0", "otc:///" + Uuid(0));
    EXPECT_EQ(result.state(), kUnknown);
    EXPECT_EQ(result.reason(), fault.reason) << result.message();
    EXPECT_FALSE(result.has_proof());
    EXPECT_TRUE(last_.ok()) << last_.status().ToString();
  }
}

TEST_F(NodePluginFaultTest, P_D1_L03_NoFaultOfTheProofIsAnAbsence) {
  ecs_.AddMany(20, "n");
  ecs_.At(Uuid(0)).listed = false;
  for (const Fault& fault : Faults()) {
    SCOPED_TRACE(fault.name);
    ecs_.SetHook([&](const pb::CloudRequest& request) -> std::optional<pb::CloudResponse> {
      if (request.path().find("detail") != std::string::npos) return std::nullopt;
      return fault.answer();
    });
    const auto results = Results(Describe(Nodes(20, "n")));
    EXPECT_EQ(results.at("n0").state(), kUnknown);
    EXPECT_EQ(results.at("n0").reason(), fault.reason);
    EXPECT_EQ(results.at("n1").state(), kRunning);
  }
}

TEST_F(NodePluginFaultTest, P_D1_L03_NoFaultOfTheListIsAnAbsence) {
  ecs_.AddMany(20, "n");
  for (const Fault& fault : Faults()) {
    SCOPED_TRACE(fault.name);
    ecs_.SetHook([&](const pb::CloudRequest& request) -> std::optional<pb::CloudResponse> {
      if (request.path().find("detail") == std::string::npos) return std::nullopt;
      return fault.answer();
    });
    const auto call = Describe(Nodes(20, "n"));
    EXPECT_FALSE(call.ok());
    // What is a fault of one server is an answer without a list.
    const std::string reason =
        std::string(fault.reason) == "BadServerData" ? "BadCloudAnswer" : fault.reason;
    EXPECT_EQ(call.reason, reason) << call.message;
    EXPECT_TRUE(Results(call).empty());
  }
  EXPECT_EQ(ecs_.gets(), 0) << "a cloud in trouble is not asked twenty times more";
}

TEST_F(NodePluginFaultTest, N24_APageThatFailsLeavesTheOthersStanding) {
  ecs_.AddMany(500, "n");
  ecs_.SetHook([](const pb::CloudRequest& request) -> std::optional<pb::CloudResponse> {
    for (const auto& pair : request.query()) {
      if (pair.key() == "offset" && pair.value() == "3") return ScriptedCloud::Unclear();
    }
    return std::nullopt;
  });
  const auto call = Describe(Nodes(500, "n"));
  EXPECT_EQ(call.code, OTC_UNAVAILABLE);
  EXPECT_EQ(call.reason, "CloudUnreachable");
  EXPECT_EQ(CountStates(call)[kRunning], 400);
  EXPECT_EQ(Results(call).size(), 400u);
}

TEST_F(NodePluginFaultTest, ANewNodeIsNotMatchedByAnIncompleteList) {
  // The twin could be on the page that failed.
  ecs_.AddMany(500, "n");
  ecs_.SetHook([](const pb::CloudRequest& request) -> std::optional<pb::CloudResponse> {
    for (const auto& pair : request.query()) {
      if (pair.key() == "offset" && pair.value() == "3") return ScriptedCloud::Unclear();
    }
    return std::nullopt;
  });
  pb::InstanceDescribeRequest request;
  for (int i = 0; i < 3; ++i) AddNode(&request, "n" + std::to_string(i), "");
  EXPECT_TRUE(Results(Describe(request)).empty());
}

TEST_F(NodePluginFaultTest, DoublesInTheListCountOnce) {
  ecs_.AddMany(4, "n");
  for (int i = 0; i < 2; ++i) ecs_.Add(ecs_.At(Uuid(i)));
  pb::InstanceDescribeRequest request = Nodes(3, "n");
  AddNode(&request, "n3", "");
  request.mutable_nodes(1)->set_provider_id("");
  const auto results = Results(Describe(request));
  EXPECT_EQ(results.size(), 4u);
  for (const auto& [name, result] : results) EXPECT_EQ(result.state(), kRunning) << name;
}

TEST_F(NodePluginFaultTest, OneServerWithBadDataLeavesTheOthersAlone) {
  ecs_.AddMany(3, "n");
  ecs_.At(Uuid(1)).raw_json = R"("status":"ACTIVE","addresses":[])";
  const auto results = Results(Describe(Nodes(3, "n")));
  EXPECT_EQ(results.at("n1").state(), kUnknown);
  EXPECT_EQ(results.at("n1").reason(), "BadServerData");
  EXPECT_NE(results.at("n1").message().find("addresses"), std::string::npos);
  EXPECT_EQ(results.at("n2").state(), kRunning);
}

}  // namespace
}  // namespace otc::node
