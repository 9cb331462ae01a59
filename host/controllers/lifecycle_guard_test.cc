// The deletion guard at work in the controller, and outages of the cloud: what
// must never cost a Node.
#include <gtest/gtest.h>

#include "host/controllers/testing/lifecycle_fixture.h"

namespace otc::host {
namespace {

using kube::Tristate;
using std::chrono::minutes;
using std::chrono::seconds;

using LifecycleGuard = LifecycleFixture;

TEST_F(LifecycleGuard, P_D3_YoungNodeIsKeptForTwoMinutes) {
  kube::Node node = Join("a", Tristate::kFalse);
  node.meta.creation_unix_ms = UnixMillis(clock_.Wall());
  api_.PutNode(node);
  instances_.Set(Id("a"), GoneServer());
  Passes(guarded_, seconds(115));
  EXPECT_TRUE(Exists("a"));
  Passes(guarded_, seconds(30));
  EXPECT_FALSE(Exists("a"));
}

TEST_F(LifecycleGuard, P_D2_OneOtherAnswerStartsTheProofsAnew) {
  Join("a", Tristate::kUnknown);
  for (int round = 0; round < 5; ++round) {
    instances_.Set(Id("a"), GoneServer());
    Passes(guarded_, seconds(50));
    instances_.Set(Id("a"), ServerInState(plugin::v1::INSTANCE_STATE_UNKNOWN, "Timeout"));
    Passes(guarded_, seconds(30));
  }
  EXPECT_TRUE(Exists("a"));
}

TEST_F(LifecycleGuard, P_D2_BeingReadyStartsTheProofsAnew) {
  Join("a", Tristate::kUnknown);
  instances_.Set(Id("a"), GoneServer());
  for (int round = 0; round < 5; ++round) {
    SetReady("a", Tristate::kUnknown);
    Passes(guarded_, seconds(50));
    SetReady("a", Tristate::kTrue);
    Pass(guarded_);
  }
  EXPECT_TRUE(Exists("a"));
}

TEST_F(LifecycleGuard, P_D2_P_D6_ManyVanishingNodesStopAllDeletionsWithAnAlarm) {
  for (int i = 0; i < 10; ++i) {
    const std::string name = "n" + std::to_string(i);
    Join(name, i < 5 ? Tristate::kUnknown : Tristate::kTrue);
    if (i < 5) instances_.Set(Id(name), GoneServer());
  }
  Passes(guarded_, std::chrono::hours(2));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Exists("n" + std::to_string(i)));
  EXPECT_TRUE(api_.Calls("DeleteNode").empty());
  EXPECT_EQ(events_.Count("DeletionGuardTripped"), 2 * 5) << "at once and after an hour";
  EXPECT_EQ(events_.Events()[0].type, kube::EventType::kWarning);
  EXPECT_NE(events_.Events()[0].message.find("5 of 10 nodes"), std::string::npos);
  EXPECT_EQ(metrics_.Sum("otc_host_deletion_guard_tripped"), 1);
  EXPECT_EQ(metrics_.Sum("otc_host_deletion_guard_trips_total"), 1);
  EXPECT_EQ(metrics_.Sum("otc_host_nodes_absent"), 5);

  // The operator deletes three of them by hand: the stop ends, the rest goes.
  for (const char* name : {"n0", "n1", "n2"}) api_.RemoveNode(name);
  Passes(guarded_, minutes(3));
  EXPECT_EQ(metrics_.Sum("otc_host_deletion_guard_tripped"), 0);
  EXPECT_FALSE(Exists("n3"));
  EXPECT_FALSE(Exists("n4"));
  EXPECT_TRUE(Exists("n5"));
}

TEST_F(LifecycleGuard, P_D2_StopEndsWithoutQuestionsWhenAllNodesReturn) {
  for (int i = 0; i < 4; ++i) {
    const std::string name = "n" + std::to_string(i);
    Join(name, Tristate::kUnknown);
    instances_.Set(Id(name), GoneServer());
  }
  Pass(guarded_);
  EXPECT_EQ(metrics_.Sum("otc_host_deletion_guard_tripped"), 1);
  for (int i = 0; i < 4; ++i) SetReady("n" + std::to_string(i), Tristate::kTrue);
  Pass(guarded_);
  EXPECT_EQ(metrics_.Sum("otc_host_deletion_guard_tripped"), 0);
  EXPECT_EQ(metrics_.Sum("otc_host_nodes_absent"), 0);
}

TEST_F(LifecycleGuard, P_D2_OneAfterTheOtherIsStoppedAsWell) {
  // Ten nodes vanish, one a minute: at most two are lost before the stop.
  for (int i = 0; i < 10; ++i) Join("n" + std::to_string(i), Tristate::kUnknown);
  for (int i = 0; i < 10; ++i) {
    instances_.Set(Id("n" + std::to_string(i)), GoneServer());
    Passes(guarded_, minutes(1));
  }
  EXPECT_LE(metrics_.Sum("otc_host_nodes_deleted_total"), 2);
}

// --- Outages: 15 minutes of each kind, no node may be lost --------------------

struct Outage {
  const char* name;
  std::function<void(FakeInstances&, const std::vector<std::string>& ids)> begin;
};

class Outages : public LifecycleFixture, public ::testing::WithParamInterface<Outage> {};

TEST_P(Outages, P_D1_P_D3_P_D6_NoNodeIsDeleted) {
  std::vector<std::string> ids;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "n" + std::to_string(i);
    Join(name, i % 2 == 0 ? Tristate::kUnknown : Tristate::kTrue);
    ids.push_back(Id(name));
  }
  GetParam().begin(instances_, ids);
  Passes(guarded_, minutes(15));
  EXPECT_GT(DescribeCalls(), 0);
  EXPECT_EQ(Writes(), 0);
  // Not even with the stock behaviour, unless the cloud proves absence.
  if (std::string(GetParam().name) != "false_proofs_for_all") {
    Passes(stock_, minutes(15));
    EXPECT_EQ(Writes(), 0);
  }
}

void AnswerAll(FakeInstances& instances, const std::vector<std::string>& ids,
               const plugin::v1::InstanceDescribeResult& answer) {
  for (const std::string& id : ids) instances.Set(id, answer);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Outages,
    ::testing::Values(Outage{"timeouts",
                             [](FakeInstances& instances, const std::vector<std::string>&) {
                               instances.FailAll(
                                   Status(Code::kDeadlineExceeded, "Timeout", "no answer"));
                             }},
                      Outage{"unauthenticated",
                             [](FakeInstances& instances, const std::vector<std::string>&) {
                               instances.FailAll(
                                   Status(Code::kUnauthenticated, "BadCredentials", "401"));
                             }},
                      Outage{"throttled",
                             [](FakeInstances& instances, const std::vector<std::string>&) {
                               instances.FailAll(
                                   Status(Code::kResourceExhausted, "Throttled", "429"));
                             }},
                      Outage{"gateway_404",
                             [](FakeInstances& instances, const std::vector<std::string>& ids) {
                               AnswerAll(instances, ids,
                                         ServerInState(plugin::v1::INSTANCE_STATE_UNKNOWN,
                                                       "GatewayNotFound"));
                             }},
                      Outage{"empty_list",
                             [](FakeInstances& instances, const std::vector<std::string>& ids) {
                               for (const std::string& id : ids) instances.Forget(id);
                             }},
                      Outage{"gone_without_proof",
                             [](FakeInstances& instances, const std::vector<std::string>& ids) {
                               AnswerAll(instances, ids,
                                         ServerInState(plugin::v1::INSTANCE_STATE_GONE));
                             }},
                      Outage{"undefined_state",
                             [](FakeInstances& instances, const std::vector<std::string>& ids) {
                               AnswerAll(instances, ids,
                                         ServerInState(static_cast<plugin::v1::InstanceState>(99)));
                             }},
                      Outage{"false_proofs_for_all",
                             [](FakeInstances& instances, const std::vector<std::string>& ids) {
                               AnswerAll(instances, ids, GoneServer());
                             }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace otc::host
