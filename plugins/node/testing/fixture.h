// PluginTest: node.so as the host has it, loaded through the SDK's harness, with
// FakeEcs as its cloud.
#ifndef OTC_PLUGINS_NODE_TESTING_FIXTURE_H_
#define OTC_PLUGINS_NODE_TESTING_FIXTURE_H_

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "plugins/node/testing/fake_ecs.h"
#include "sdk/harness/harness.h"

namespace otc::node::testing {

class PluginTest : public ::testing::Test {
 protected:
  void SetUp() override {
    host_.SetCloud(&ecs_);
    Create("{}");
  }
  void TearDown() override {
    EXPECT_TRUE(host_.violations().empty()) << host_.ViolationText();
    for (const auto& request : ecs_.requests()) {
      EXPECT_EQ(request.service(), "ecs");
      EXPECT_EQ(request.method(), "GET");
      EXPECT_EQ(request.effect(), pb::EFFECT_READ);
      EXPECT_TRUE(request.idempotent());
      EXPECT_NE(request.purpose(), "");
    }
  }

  void Create(const std::string& settings) {
    auto library = harness::PluginLibrary::Load(OTC_NODE_PLUGIN);
    ASSERT_TRUE(library.ok()) << library.status().ToString();
    harness::InstanceOptions options;
    options.config = harness::DefaultConfig("controllers", settings);
    auto made = harness::Instance::Create(*library, host_, options);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    instance_ = std::move(made).value();
  }

  static pb::Node* AddNode(pb::InstanceDescribeRequest* request, const std::string& name,
                           const std::string& provider_id, const std::string& uuid = "") {
    pb::Node* node = request->add_nodes();
    node->set_name(name);
    node->set_uid("uid-" + name);
    node->set_provider_id(provider_id);
    node->set_system_uuid(uuid);
    return node;
  }
  // A request for nodes "<prefix>0" … with the providerIDs of AddMany's servers.
  static pb::InstanceDescribeRequest Nodes(int count, const std::string& prefix) {
    pb::InstanceDescribeRequest request;
    for (int i = 0; i < count; ++i) {
      AddNode(&request, prefix + std::to_string(i), "otc:///" + Uuid(i));
    }
    request.set_want_metadata(true);
    return request;
  }

  harness::CallResult Describe(const pb::InstanceDescribeRequest& request) {
    return instance_->Describe(request);
  }
  // Results by node name; fails the test when a node has two.
  std::map<std::string, pb::InstanceDescribeResult> Results(const harness::CallResult& call) {
    std::map<std::string, pb::InstanceDescribeResult> out;
    for (auto& result : call.All<pb::InstanceDescribeResult>()) {
      EXPECT_EQ(result.node_uid(), "uid-" + result.node_name());
      const std::string name = result.node_name();
      EXPECT_TRUE(out.emplace(name, std::move(result)).second) << "two results for " << name;
    }
    return out;
  }
  pb::InstanceDescribeResult DescribeOne(const std::string& name, const std::string& provider_id,
                                         const std::string& uuid = "") {
    pb::InstanceDescribeRequest request;
    AddNode(&request, name, provider_id, uuid);
    request.set_want_metadata(true);
    last_ = Describe(request);
    auto results = Results(last_);
    EXPECT_EQ(results.size(), 1u) << last_.status().ToString();
    return results[name];
  }
  std::map<pb::InstanceState, int> CountStates(const harness::CallResult& call) {
    std::map<pb::InstanceState, int> out;
    for (const auto& [name, result] : Results(call)) ++out[result.state()];
    return out;
  }

  FakeEcs ecs_;
  harness::FakeHost host_;
  harness::Instance::Ptr instance_;
  harness::CallResult last_;
};

}  // namespace otc::node::testing

#endif  // OTC_PLUGINS_NODE_TESTING_FIXTURE_H_
