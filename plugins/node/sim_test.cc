// node.so against otc-sim, over the host's own signed transport: a stranger's
// paging, filters, bodies, headers and faults instead of those of FakeEcs.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "host/base/random.h"
#include "host/base/write_gate.h"
#include "host/cloud/transport.h"
#include "sdk/harness/harness.h"
#include "tests/sim/otc/simulator.h"

namespace otc::node {
namespace {

namespace pb = otc::plugin::v1;
using host::cloud::Transport;

// The harness's cloud: one request after the other through the real transport.
class TransportCloud final : public harness::CloudClient {
 public:
  explicit TransportCloud(const sim::Simulator& sim) {
    host::cloud::CloudConfig config;
    config.credentials = {sim::kAccessKey, sim::kSecretKey, ""};
    config.region = config.project_name = "eu-de";
    config.endpoints = {{"iam", sim.url("iam")}, {"ecs", sim.url("ecs")}};
    config.budgets = {{"default-read", {1000, 1000}}};
    auto made = Transport::Create(config, {clock_, random_, log_, metrics_, gate_,
                                           [this](host::http::ClientOptions options) {
                                             return host::http::MakeClient(options, clock_);
                                           },
                                           "otc-host/test"});
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    transport_ = std::move(made).value();
  }

  pb::CloudResponse Answer(const pb::CloudRequest& request) override {
    pb::CloudBatch batch;
    *batch.add_requests() = request;
    host::CallContext context;
    context.clock = &clock_;
    context.deadline = clock_.Now() + std::chrono::seconds(20);
    pb::CloudResponse answer;
    const Status status =
        transport_->Exchange({"node", false}, batch, context,
                             [&](const pb::CloudResponse& response) { answer = response; });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return answer;
  }

 private:
  host::SystemClock clock_;
  host::FixedRandom random_{0.0};  // no pauses between attempts
  host::MemoryLog log_;
  host::Metrics metrics_;
  host::OpenWriteGate gate_;
  std::unique_ptr<Transport> transport_;
};

class NodeSimTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sim_.Start().ok());
    ConnectAnew();
    auto library = harness::PluginLibrary::Load(OTC_NODE_PLUGIN);
    ASSERT_TRUE(library.ok()) << library.status().ToString();
    auto made = harness::Instance::Create(*library, host_, {});
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    instance_ = std::move(made).value();
  }
  void TearDown() override {
    EXPECT_TRUE(host_.violations().empty()) << host_.ViolationText();
    EXPECT_FALSE(host_.Leaked(sim::kSecretKey));
  }

  void ConnectAnew() {
    host_.SetCloud(nullptr);
    cloud_ = std::make_unique<TransportCloud>(sim_);
    host_.SetCloud(cloud_.get());
  }
  std::string AddServer(const std::string& name) {
    sim::Server server;
    server.name = name;
    server.flavor = "s3.large.2";
    server.availability_zone = "eu-de-01";
    const auto id = sim_.AddServer(server);
    EXPECT_TRUE(id.ok()) << id.status().ToString();
    return id.ok() ? *id : "";
  }
  void AddMany(int count) {
    for (int i = 0; i < count; ++i) ids_.push_back(AddServer("node-" + std::to_string(i)));
  }

  static void AddNode(pb::InstanceDescribeRequest* request, const std::string& name,
                      const std::string& server_id) {
    pb::Node* node = request->add_nodes();
    node->set_name(name);
    node->set_uid("uid-" + name);
    if (!server_id.empty()) node->set_provider_id("otc:///" + server_id);
    request->set_want_metadata(true);
  }
  pb::InstanceDescribeRequest AllNodes() const {
    pb::InstanceDescribeRequest request;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      AddNode(&request, "node-" + std::to_string(i), ids_[i]);
    }
    return request;
  }
  std::map<std::string, pb::InstanceDescribeResult> Describe(
      const pb::InstanceDescribeRequest& request) {
    const auto call = instance_->Describe(request);
    std::map<std::string, pb::InstanceDescribeResult> out;
    for (auto& result : call.All<pb::InstanceDescribeResult>()) {
      out[result.node_name()] = std::move(result);
    }
    return out;
  }
  std::map<pb::InstanceState, int> States(const pb::InstanceDescribeRequest& request) {
    std::map<pb::InstanceState, int> out;
    for (const auto& [name, result] : Describe(request)) ++out[result.state()];
    return out;
  }
  pb::InstanceDescribeResult DescribeOne(const std::string& name, const std::string& id) {
    pb::InstanceDescribeRequest request;
    AddNode(&request, name, id);
    return Describe(request)[name];
  }

  sim::Simulator sim_{{}};
  std::unique_ptr<TransportCloud> cloud_;
  harness::FakeHost host_;
  harness::Instance::Ptr instance_;
  std::vector<std::string> ids_;
};

TEST_F(NodeSimTest, N01_ANewNodeGetsItsServer) {
  AddMany(12);
  for (const char* filter : {"regex", "substring", "ignored"}) {
    sim_.behaviour().Change([&](sim::Behaviour& behaviour) { behaviour.name_filter = filter; });
    const auto result = DescribeOne("node-1", "");
    EXPECT_EQ(result.state(), pb::INSTANCE_STATE_RUNNING) << filter << result.message();
    EXPECT_EQ(result.metadata().provider_id(), "otc:///" + ids_[1]);
    EXPECT_EQ(result.metadata().zone(), "eu-de-01");
    EXPECT_EQ(result.metadata().instance_type(), "s3.large.2");
    ASSERT_GE(result.metadata().addresses_size(), 2);
    EXPECT_EQ(result.metadata().addresses(0).type(), "InternalIP");
  }
}

TEST_F(NodeSimTest, P_D10_AResizeShows) {
  AddMany(2);
  ASSERT_TRUE(sim_.ResizeServer(ids_[0], "s3.medium.2").ok());
  EXPECT_EQ(DescribeOne("node-0", ids_[0]).metadata().instance_type(), "s3.medium.2");
}

TEST_F(NodeSimTest, L05_AServerThatIsOff) {
  AddMany(1);
  ASSERT_TRUE(sim_.SetServerStatus(ids_[0], "SHUTOFF").ok());
  EXPECT_EQ(DescribeOne("node-0", ids_[0]).state(), pb::INSTANCE_STATE_SHUT_DOWN);
}

TEST_F(NodeSimTest, L17_AServerThatIsGoneIsProvedByItsService) {
  AddMany(3);
  const std::string nobody = "11111111-2222-4333-8444-555555555555";
  auto result = DescribeOne("x", nobody);
  EXPECT_EQ(result.state(), pb::INSTANCE_STATE_GONE) << result.message();
  EXPECT_EQ(result.proof().method(), pb::PROOF_METHOD_GET_BY_ID);
  EXPECT_EQ(result.proof().service_code(), "Ecs.0114");
  EXPECT_NE(result.proof().request_id(), "");

  ids_.push_back(nobody);  // and in a batch, behind the list
  const auto results = Describe(AllNodes());
  EXPECT_EQ(results.at("node-3").state(), pb::INSTANCE_STATE_GONE);
  EXPECT_EQ(results.at("node-2").state(), pb::INSTANCE_STATE_RUNNING);
}

TEST_F(NodeSimTest, P_E1_FiveHundredServersCostThreeCalls) {
  AddMany(500);
  sim_.log().Clear();
  EXPECT_EQ(States(AllNodes())[pb::INSTANCE_STATE_RUNNING], 500);
  EXPECT_EQ(sim_.log().Count("ecs.servers.list"), 3);
  EXPECT_EQ(sim_.log().Count("ecs.server.get"), 0);
}

TEST_F(NodeSimTest, P_D1_NoFaultOfTheCloudMakesANodeGone) {
  AddMany(30);
  const char* faults[] = {
      R"({"service":"ecs","kind":"drop_before","count":0})",
      R"({"service":"ecs","kind":"drop_after","count":0})",
      R"({"service":"ecs","kind":"status","status":401,"count":0})",
      R"({"service":"ecs","kind":"status","status":403,"count":0})",
      R"({"service":"ecs","kind":"status","status":500,"count":0})",
      R"({"service":"ecs","kind":"status","status":503,"count":0})",
      R"({"service":"ecs","kind":"status","status":404,"count":0,)"
      R"("body":"{\"error_code\":\"APIGW.0101\",\"error_msg\":\"x\"}"})",
      R"({"service":"ecs","kind":"status","status":404,"count":0,"body":"<html>","content_type":"text/html"})",
      R"({"service":"ecs","kind":"garbage","count":0})",
      R"({"service":"ecs","kind":"garbage_wire","count":0})",
      R"({"service":"ecs","kind":"truncate","count":0})",
      R"({"service":"ecs","kind":"empty_list","count":0})",
  };
  for (const char* fault : faults) {
    SCOPED_TRACE(fault);
    ConnectAnew();  // after two 401 a transport sends nothing more
    const auto id = sim_.AddFault(fault);
    ASSERT_TRUE(id.ok()) << id.status().ToString();
    EXPECT_EQ(States(AllNodes()).count(pb::INSTANCE_STATE_GONE), 0u);
    EXPECT_NE(DescribeOne("node-0", ids_[0]).state(), pb::INSTANCE_STATE_GONE);
    EXPECT_GT(sim_.faults().Fired(*id), 0);
    sim_.faults().Clear();
  }
}

TEST_F(NodeSimTest, P_D1_AnEmptyListIsMadeUpForByGets) {
  AddMany(30);
  ASSERT_TRUE(sim_.AddFault(R"({"service":"ecs","kind":"empty_list","count":0})").ok());
  EXPECT_EQ(States(AllNodes())[pb::INSTANCE_STATE_RUNNING], 30);
}

}  // namespace
}  // namespace otc::node
