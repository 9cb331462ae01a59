#include "host/kube/testing/fake_kube_api.h"

#include <gtest/gtest.h>

#include "host/base/fake_clock.h"
#include "host/kube/testing/node_json.h"

namespace otc::host::kube {
namespace {

class FakeKubeApiTest : public ::testing::Test {
 protected:
  FakeKubeApiTest() { context_.clock = &clock_; }

  Result<Node> Patch(PatchType type, const std::string& body, const std::string& sub = "") {
    return api_.PatchNode("a", type, body, sub, context_);
  }

  FakeClock clock_;
  CallContext context_;
  FakeKubeApi api_;
};

constexpr char kNode[] = R"({"metadata":{"name":"a","uid":"u1","labels":{"x":"1"}},
  "spec":{"podCIDR":"10.0.0.0/24","taints":[{"key":"t","effect":"NoSchedule"}]},
  "status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],"unheard":{"of":true}}})";

TEST_F(FakeKubeApiTest, N13_PatchKeepsFieldsTheHostDoesNotKnow) {
  api_.PutNodeJson(kNode);
  const auto patched = Patch(PatchType::kMerge, R"({"spec":{"providerID":"otc:///1"}})");
  ASSERT_TRUE(patched.ok());
  EXPECT_EQ(patched->provider_id, "otc:///1");
  EXPECT_EQ(patched->taints.size(), 1u);
  EXPECT_NE(api_.NodeJson("a").find("unheard"), std::string::npos);
  EXPECT_NE(api_.NodeJson("a").find("10.0.0.0/24"), std::string::npos);
}

TEST_F(FakeKubeApiTest, StaleVersionAndForeignUidAreConflicts) {
  const Node first = api_.PutNodeJson(kNode);
  api_.ChangeNode("a", R"({"metadata":{"labels":{"x":"2"}}})");
  const std::string stale = R"({"metadata":{"resourceVersion":")" + first.meta.resource_version +
                            R"(","labels":{"y":"1"}}})";
  EXPECT_EQ(Patch(PatchType::kMerge, stale).status().code(), Code::kAborted);
  EXPECT_EQ(Patch(PatchType::kMerge, R"({"metadata":{"uid":"u2"}})").status().reason(), "Conflict");
  EXPECT_EQ(api_.DeleteNode("a", {"u2", ""}, context_).code(), Code::kAborted);
  EXPECT_EQ(api_.DeleteNode("a", {"u1", ""}, context_).code(), Code::kOk);
  EXPECT_EQ(api_.DeleteNode("a", {"u1", ""}, context_).code(), Code::kNotFound);
}

TEST_F(FakeKubeApiTest, PatchWithoutEffectKeepsTheVersion) {
  const Node first = api_.PutNodeJson(kNode);
  const auto same = Patch(PatchType::kMerge, R"({"metadata":{"labels":{"x":"1"}}})");
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->meta.resource_version, first.meta.resource_version);
}

TEST_F(FakeKubeApiTest, StatusAndMainResourceChangeTheirOwnHalf) {
  api_.PutNodeJson(kNode);
  const std::string both =
      R"({"spec":{"providerID":"p"},"status":{"addresses":[{"type":"Hostname","address":"h"}]}})";
  auto patched = Patch(PatchType::kMerge, both, "status");
  ASSERT_TRUE(patched.ok());
  EXPECT_EQ(patched->provider_id, "");
  ASSERT_EQ(patched->addresses.size(), 1u);
  EXPECT_EQ(patched->addresses[0].type, "Hostname");
  patched = Patch(PatchType::kMerge, R"({"spec":{"providerID":"p"},"status":{"addresses":[]}})");
  ASSERT_TRUE(patched.ok());
  EXPECT_EQ(patched->provider_id, "p");
  EXPECT_EQ(patched->addresses.size(), 1u);
}

TEST_F(FakeKubeApiTest, StrategicPatchMergesAddressesByTypeUnlessReplaced) {
  api_.PutNodeJson(kNode);
  auto merged = Patch(PatchType::kStrategicMerge,
                      R"({"status":{"addresses":[{"type":"Hostname","address":"h"}]}})", "status");
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->addresses.size(), 2u);
  merged = Patch(PatchType::kStrategicMerge,
                 R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.2"},
                     {"type":"InternalIP","address":"fd00::2"},{"$patch":"replace"}]}})",
                 "status");
  ASSERT_TRUE(merged.ok());
  ASSERT_EQ(merged->addresses.size(), 2u);
  EXPECT_EQ(merged->addresses[1].address, "fd00::2");
}

TEST_F(FakeKubeApiTest, RefusesWhatTheServerRefuses) {
  api_.PutNodeJson(kNode);
  ASSERT_TRUE(Patch(PatchType::kMerge, R"({"spec":{"providerID":"p"}})").ok());
  EXPECT_EQ(Patch(PatchType::kMerge, R"({"spec":{"providerID":"q"}})").status().code(),
            Code::kInvalidArgument);
  const std::string twice =
      R"({"status":{"addresses":[{"type":"A","address":"1"},{"type":"A","address":"1"}]}})";
  EXPECT_EQ(Patch(PatchType::kMerge, twice, "status").status().reason(), "Invalid");
  EXPECT_EQ(Patch(PatchType::kMerge, "{").status().code(), Code::kInvalidArgument);
}

TEST_F(FakeKubeApiTest, MirrorsChangesToAListerAndRunsScripts) {
  FakeNodeLister lister;
  api_.MirrorTo(&lister);
  api_.PutNodeJson(kNode);
  ASSERT_NE(lister.Get("a"), nullptr);
  api_.FailNext("PatchNode", Status(Code::kUnavailable, "Down", ""), 1);
  api_.LoseReplies("PatchNode", Status(Code::kUnavailable, "ConnectionLost", ""), 1);
  EXPECT_EQ(Patch(PatchType::kMerge, R"({"spec":{"providerID":"p"}})").status().reason(), "Down");
  EXPECT_EQ(lister.Get("a")->provider_id, "");
  EXPECT_EQ(Patch(PatchType::kMerge, R"({"spec":{"providerID":"p"}})").status().reason(),
            "ConnectionLost");
  EXPECT_EQ(lister.Get("a")->provider_id, "p") << "carried out although the reply was lost";
  api_.RemoveNode("a");
  EXPECT_EQ(lister.Get("a"), nullptr);
  EXPECT_EQ(api_.Calls("PatchNode").size(), 2u);
}

TEST_F(FakeKubeApiTest, LeasesHaveOptimisticConcurrency) {
  Lease lease;
  lease.meta.namespace_ = "kube-system";
  lease.meta.name = "l";
  lease.holder = "me";
  EXPECT_EQ(api_.GetLease("kube-system", "l", context_).status().code(), Code::kNotFound);
  const auto created = api_.CreateLease(lease, context_);
  ASSERT_TRUE(created.ok());
  EXPECT_EQ(api_.CreateLease(lease, context_).status().code(), Code::kAlreadyExists);
  ASSERT_TRUE(api_.UpdateLease(*created, context_).ok());
  EXPECT_EQ(api_.UpdateLease(*created, context_).status().code(), Code::kAborted);
}

TEST_F(FakeKubeApiTest, NodeSurvivesTheWayThroughJson) {
  Node node;
  node.meta.name = "n";
  node.meta.labels = {{"a", "b"}};
  node.meta.creation_unix_ms = 1'767'225'600'000;
  node.taints = {{"k", "v", "NoExecute", "2026-01-01T00:00:00Z"}};
  node.addresses = {{"InternalIP", "10.0.0.1"}};
  node.ready = Tristate::kFalse;
  node.system_uuid = "s";
  const Node stored = api_.PutNode(node);
  EXPECT_EQ(stored.taints, node.taints);
  EXPECT_EQ(stored.addresses, node.addresses);
  EXPECT_EQ(stored.ready, Tristate::kFalse);
  EXPECT_EQ(stored.system_uuid, "s");
  EXPECT_EQ(stored.meta.creation_unix_ms, node.meta.creation_unix_ms);
  EXPECT_FALSE(stored.meta.uid.empty());
}

}  // namespace
}  // namespace otc::host::kube
