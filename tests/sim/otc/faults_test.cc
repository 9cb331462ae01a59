// The fault script: every kind, what is carried out under it, and matching.
#include "tests/sim/otc/faults.h"

#include "tests/sim/otc/sim_test_base.h"

namespace otc::sim {
namespace {

class FaultsTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    id_ = AddServer("node-1");
  }
  void Fault(const std::string& json) {
    const auto id = sim_.AddFault(json);
    ASSERT_TRUE(id.ok()) << id.status().ToString();
  }
  Answer List() { return client_.Get(Ecs("/cloudservers/detail")); }
  Answer Delete() {
    return client_.Call("POST", Ecs("/cloudservers/delete"),
                        R"({"servers":[{"id":")" + id_ + R"("}]})");
  }
  // Whether a deletion was carried out, once its job is over.
  bool IsGone() {
    sim_.time().Advance(1000);
    return !sim_.world().FindServer(id_);
  }
  LoggedCall LastCall() { return sim_.log().Since(0).back(); }
  std::string id_;
};

TEST_F(FaultsTest, StatusIsNotCarriedOutUnlessCommitted) {
  Fault(R"({"kind":"status","status":503})");
  Answer answer = Delete();
  EXPECT_EQ(answer.status, 503);
  EXPECT_FALSE(LastCall().handled);
  EXPECT_FALSE(IsGone());
  client_.skew_s = 1;
  Fault(R"({"kind":"status","status":500,"body":"boom","content_type":"text/plain",)"
        R"("headers":{"Retry-After":"3"},"commit":true})");
  answer = Delete();
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, "boom");
  EXPECT_EQ(answer.headers.at("content-type"), "text/plain");
  EXPECT_EQ(answer.headers.at("retry-after"), "3");
  EXPECT_TRUE(IsGone());
}

TEST_F(FaultsTest, ScriptedStatusSpeaksTheLanguageOfTheService) {
  Fault(R"({"kind":"status","status":404,"count":0})");
  EXPECT_EQ(List().At("error.code"), "\"Ecs.0114\"");
  EXPECT_EQ(client_.Get(Vpc("/publicips")).At("code"), "\"VPC.0504\"");
  EXPECT_EQ(client_.Get(Iam("/v3/projects")).At("error_code"), "\"IAM.0004\"");
}

TEST_F(FaultsTest, DropBeforeAndAfter) {
  Fault(R"({"kind":"drop_before"})");
  Answer answer = Delete();
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.raw, "");
  EXPECT_FALSE(answer.timed_out);
  EXPECT_FALSE(IsGone());
  client_.skew_s = 1;
  Fault(R"({"kind":"drop_after"})");
  answer = Delete();
  EXPECT_EQ(answer.raw, "");
  EXPECT_FALSE(answer.timed_out);
  EXPECT_TRUE(IsGone());
}

TEST_F(FaultsTest, TimeoutIsNotCarriedOutLostReplyIs) {
  client_.timeout_ms = 100;
  Fault(R"({"kind":"timeout"})");
  EXPECT_TRUE(Delete().timed_out);
  EXPECT_FALSE(IsGone());
  client_.skew_s = 1;
  Fault(R"({"kind":"lost_reply"})");
  EXPECT_TRUE(Delete().timed_out);
  EXPECT_TRUE(IsGone());
}

TEST_F(FaultsTest, HeldCallsEndByThemselvesAfterMs) {
  Fault(R"({"kind":"timeout","ms":50})");
  const Answer answer = List();
  EXPECT_FALSE(answer.timed_out);
  EXPECT_EQ(answer.raw, "");
}

TEST_F(FaultsTest, DelayIsLateButWhole) {
  Fault(R"({"kind":"delay","ms":300,"count":2})");
  client_.timeout_ms = 50;
  EXPECT_TRUE(List().timed_out);
  client_.timeout_ms = 5000;
  EXPECT_EQ(List().status, 200);
}

TEST_F(FaultsTest, TruncatedBodyIsShorterThanPromised) {
  Fault(R"({"kind":"truncate"})");
  Answer answer = List();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.size(), std::stoul(answer.headers.at("content-length")) / 2);
  Fault(R"({"kind":"truncate","bytes":0})");
  answer = List();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "");
}

TEST_F(FaultsTest, GarbageInJsonAndOnTheWire) {
  Fault(R"({"kind":"garbage"})");
  Answer answer = List();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.At(""), "(no json)");
  Fault(R"({"kind":"garbage_wire"})");
  answer = List();
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.raw.substr(0, 4), "SSH-");
}

TEST_F(FaultsTest, EmptyListHidesWhatIsThere) {
  Fault(R"({"kind":"empty_list","operation":"ecs.servers.list"})");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + id_)).status, 200);
  EXPECT_EQ(List().At("count"), "0");
  EXPECT_EQ(List().At("count"), "1");
}

TEST_F(FaultsTest, ListLagsBehindByCalls) {
  Fault(R"({"kind":"lag","calls":2,"count":0,"operation":"ecs.servers.list"})");
  AddServer("node-2");
  EXPECT_EQ(Names(List()), "node-1");
  EXPECT_EQ(Names(List()), "node-1");
  EXPECT_EQ(Names(List()), "node-1 node-2");
  ASSERT_TRUE(sim_.world().RemoveServer(id_).ok());
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + id_)).status, 404);
  EXPECT_EQ(Names(List()), "node-1 node-2");
  EXPECT_EQ(Names(List()), "node-1 node-2");
  EXPECT_EQ(Names(List()), "node-2");
}

TEST_F(FaultsTest, ListLagsBehindByTime) {
  sim_.time().Advance(10'000);
  client_.skew_s = 10;
  Fault(R"({"kind":"lag","ms":5000,"count":0})");
  ASSERT_TRUE(sim_.SetServerStatus(id_, "SHUTOFF").ok());
  EXPECT_EQ(List().At("servers.0.status"), "\"ACTIVE\"");
  sim_.time().Advance(5000);
  EXPECT_EQ(List().At("servers.0.status"), "\"SHUTOFF\"");
}

TEST_F(FaultsTest, EditReplyRemovesAndAddsMembers) {
  Fault(R"({"kind":"edit_reply","remove":["servers.*.flavor","count","servers.*.nothing"],)"
        R"("set":{"servers.*.new_member":{"a":1},"servers.*.status":7}})");
  const Answer answer = List();
  EXPECT_EQ(answer.At("count"), "(absent)");
  EXPECT_EQ(answer.At("servers.0.flavor"), "(absent)");
  EXPECT_EQ(answer.At("servers.0.new_member.a"), "1");
  EXPECT_EQ(answer.At("servers.0.status"), "7");
  EXPECT_EQ(answer.At("servers.0.name"), "\"node-1\"");
}

TEST_F(FaultsTest, NthAndCountChooseTheCalls) {
  Fault(R"({"kind":"status","status":500,"nth":2,"count":2})");
  std::string seen;
  for (int i = 0; i < 5; ++i) seen += std::to_string(List().status) + " ";
  EXPECT_EQ(seen, "200 500 500 200 200 ");
}

TEST_F(FaultsTest, MatchesByServiceMethodPathAndOperation) {
  Fault(R"({"kind":"status","status":500,"count":0,"service":"ecs","method":"GET",)"
        R"("path":"limit=7$"})");
  EXPECT_EQ(List().status, 200);
  EXPECT_EQ(client_.Get(Vpc("/publicips?limit=7")).status, 200);
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail?limit=7")).status, 500);
  EXPECT_EQ(client_.Call("POST", Ecs("/cloudservers/delete?limit=7"), "{}").status, 400);
}

TEST_F(FaultsTest, FiredCountsAndRemoval) {
  Fault(R"({"id":"x","kind":"status","status":500,"count":0})");
  EXPECT_EQ(sim_.faults().Fired("x"), 0);
  EXPECT_FALSE(sim_.faults().WaitFired("x", 1, 1));
  List();
  EXPECT_TRUE(sim_.faults().WaitFired("x", 1, 5000));
  EXPECT_EQ(LastCall().fault, "x");
  EXPECT_TRUE(sim_.faults().Remove("x"));
  EXPECT_FALSE(sim_.faults().Remove("x"));
  EXPECT_EQ(List().status, 200);
}

TEST_F(FaultsTest, BadRulesAreRefusedWithEveryMistake) {
  const auto id =
      sim_.AddFault(R"({"kind":"explode","service":"s3","path":"(","nth":0,"colour":"red"})");
  ASSERT_FALSE(id.ok());
  for (const char* words : {"kind: 'explode'", "service: 's3'", "path: '('", "nth:", "colour:"}) {
    EXPECT_NE(id.status().message().find(words), std::string::npos) << id.status().message();
  }
  EXPECT_FALSE(sim_.AddFault(R"({"status":500})").ok());
  EXPECT_FALSE(sim_.AddFault(R"({"kind":"lag"})").ok());
  EXPECT_FALSE(sim_.AddFault("[]").ok());
}

}  // namespace
}  // namespace otc::sim
