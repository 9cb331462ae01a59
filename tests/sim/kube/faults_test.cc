#include "tests/sim/kube/faults.h"

#include <gtest/gtest.h>

#include "tests/sim/kube/testing/sim_fixture.h"

namespace otc::kubesim {
namespace {

class FaultsTest : public SimTest {
 protected:
  std::unique_ptr<SimClient> Watch(const std::string& query) {
    auto client = std::make_unique<SimClient>(port_);
    client->Send("GET", std::string(kNodes) + "?watch=1&" + query);
    return client;
  }
};

TEST_F(FaultsTest, StatusWithRetryAfterOnce) {
  Fault(R"({"match":{"verb":"list"},"action":{"status":429,"retryAfter":7}})");
  const SimResponse refused = Get(kNodes);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.reason(), "TooManyRequests");
  EXPECT_EQ(refused.headers.at("retry-after"), "7");
  EXPECT_EQ(Get(kNodes).status, 200);
  EXPECT_EQ(server_->counters().faults, 1u);
}

TEST_F(FaultsTest, MatchesVerbTargetAgentSkipAndTimes) {
  AddNode("a");
  Fault(R"({"match":{"verb":"get","target":"/nodes/a$","userAgent":"sim-test"},
            "skip":1,"times":2,"action":{"status":503}})");
  EXPECT_EQ(Get(kNodes).status, 200);
  EXPECT_EQ(Get("/api/v1/nodes/a?x=1").status, 200);  // the pattern wants the end
  const auto get = [&] { return Get("/api/v1/nodes/a").status; };
  EXPECT_EQ(get(), 200);
  EXPECT_EQ(get(), 503);
  EXPECT_EQ(get(), 503);
  EXPECT_EQ(get(), 200);
}

TEST_F(FaultsTest, ArmedInOrderAndWithoutEnd) {
  Fault(R"({"action":{"status":500}})");
  Fault(R"({"times":0,"action":{"status":503}})");
  EXPECT_EQ(Get(kNodes).status, 500);
  EXPECT_EQ(Get(kNodes).status, 503);
  EXPECT_EQ(Get(kNodes).status, 503);
  server_->ClearFaults();
  EXPECT_EQ(Get(kNodes).status, 200);
}

TEST_F(FaultsTest, OwnBodyTypeAndHeaders) {
  Fault(
      R"({"action":{"status":502,"contentType":"text/html","body":"<html>","headers":{"X-A":"b"}}})");
  const SimResponse page = Get(kNodes);
  EXPECT_EQ(page.status, 502);
  EXPECT_EQ(page.body, "<html>");
  EXPECT_EQ(page.headers.at("content-type"), "text/html");
  EXPECT_EQ(page.headers.at("x-a"), "b");
  Fault(R"({"action":{"status":200,"bodyBase64":"H4sA"}})");
  EXPECT_EQ(Get(kNodes).body, std::string("\x1f\x8b\x00", 3));
}

TEST_F(FaultsTest, C35_ReplyLostAfterOrBeforeCommit) {
  AddNode("a");
  Fault(R"({"match":{"verb":"patch"},"action":{"drop":"reset","when":"after"}})");
  const Json patch = {{"metadata", {{"labels", {{"x", "1"}}}}}};
  const SimResponse lost = Patch("/api/v1/nodes/a", "merge", patch);
  EXPECT_EQ(lost.status, 0);
  EXPECT_EQ(lost.end, ReadEnd::kReset);
  EXPECT_EQ(TextAt(Get("/api/v1/nodes/a").json(), {"metadata", "labels", "x"}), "1");
  Fault(R"({"match":{"verb":"delete"},"action":{"drop":"fin","when":"before"}})");
  EXPECT_EQ(Delete("/api/v1/nodes/a").end, ReadEnd::kClosed);
  EXPECT_EQ(Get("/api/v1/nodes/a").status, 200);
  Fault(R"({"match":{"verb":"delete"},"action":{"status":500,"when":"after"}})");
  EXPECT_EQ(Delete("/api/v1/nodes/a").status, 500);
  EXPECT_EQ(Get("/api/v1/nodes/a").status, 404);
}

TEST_F(FaultsTest, HungRequestIsNeverAnsweredButStopsWithTheServer) {
  Fault(R"({"action":{"hang":true}})");
  SimClient client(port_);
  client.Send("GET", kNodes);
  EXPECT_EQ(client.ReadSome(50), "");
  EXPECT_EQ(client.end(), ReadEnd::kTimeout);
  server_->Stop();
  EXPECT_EQ(client.ReadSome(), "");
  EXPECT_NE(client.end(), ReadEnd::kTimeout);
}

TEST_F(FaultsTest, CutAfterBytes) {
  AddNode("a");
  Fault(R"({"action":{"cutAfter":150}})");
  SimClient client(port_);
  client.Send("GET", kNodes);
  std::string got;
  for (std::string more = client.ReadSome(); !more.empty(); more = client.ReadSome()) {
    got += more;
  }
  EXPECT_EQ(got.size(), 150u);
  EXPECT_EQ(client.end(), ReadEnd::kClosed);
  Fault(R"({"action":{"cutAfter":20,"cutStyle":"reset"}})");
  SimClient other(port_);
  other.Send("GET", kNodes);
  while (!other.ReadSome().empty()) {
  }
  EXPECT_EQ(other.end(), ReadEnd::kReset);
}

TEST_F(FaultsTest, C12_CutIntoSilenceIsHalfOpen) {
  AddNode("a");
  Fault(R"({"match":{"verb":"watch"},"action":{"cutAfter":120,"cutStyle":"silent"}})");
  auto watch = Watch("");
  std::string got = watch->ReadSome();
  EXPECT_LE(got.size(), 120u);
  AddNode("b");
  while (!(got = watch->ReadSome(50)).empty()) {
  }
  EXPECT_EQ(watch->end(), ReadEnd::kTimeout);
  EXPECT_EQ(server_->open_connections(), 1u);
}

TEST_F(FaultsTest, C12_SwallowedEnd) {
  Fault(R"({"match":{"verb":"watch"},"action":{"swallowEnd":true}})");
  auto watch = Watch("");
  EXPECT_EQ(watch->ReadHead().status, 200);
  server_->EndWatches();
  EXPECT_FALSE(watch->NextEvent(50));
  EXPECT_EQ(watch->end(), ReadEnd::kTimeout);
}

TEST_F(FaultsTest, C13_DrippingIsStillTheWholeAnswer) {
  Fault(R"({"action":{"dripBytes":7,"dripIntervalMs":1}})");
  const SimResponse dripped = Get(kNodes);
  EXPECT_TRUE(dripped.complete);
  EXPECT_EQ(TextAt(dripped.json(), {"kind"}), "NodeList");
}

TEST_F(FaultsTest, C34_ConnectionCloseEndsAfterTheAnswer) {
  Fault(R"({"action":{"close":true}})");
  SimClient client(port_);
  EXPECT_EQ(client.Get(kNodes).headers.at("connection"), "close");
  EXPECT_EQ(client.Get(kNodes).status, 0);
}

TEST_F(FaultsTest, C38_RawBytesInsteadOfHttp) {
  Fault(R"({"action":{"raw":"SSH-2.0-hello\r\n"}})");
  SimClient client(port_);
  client.Send("GET", kNodes);
  EXPECT_EQ(client.ReadSome(), "SSH-2.0-hello\r\n");
}

TEST_F(FaultsTest, C09_StreamingListRefusedOrNeverMarked) {
  AddNode("a");
  const std::string query =
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  Fault(R"({"match":{"verb":"watch"},"action":{"refuseWatchList":422}})");
  EXPECT_EQ(Watch(query)->ReadHead().status, 422);
  Fault(R"({"match":{"verb":"watch"},"action":{"noInitialEventsEnd":true}})");
  auto watch = Watch(query);
  watch->ReadHead();
  EXPECT_EQ(TextAt(*watch->NextEvent(), {"type"}), "ADDED");
  EXPECT_FALSE(watch->NextEvent(50));
}

TEST_F(FaultsTest, BookmarksOff) {
  server_->SetBookmarkInterval(10);
  Fault(R"({"match":{"verb":"watch"},"action":{"noBookmarks":true}})");
  auto watch = Watch("allowWatchBookmarks=true");
  watch->ReadHead();
  EXPECT_FALSE(watch->NextEvent(60));
}

TEST_F(FaultsTest, C03_WatchExpiresEndsOrFailsAfterEvents) {
  AddNode("a");
  AddNode("b");
  Fault(R"({"match":{"verb":"watch"},"action":{"expireAfterEvents":1}})");
  auto watch = Watch("");
  watch->ReadHead();
  EXPECT_EQ(TextAt(*watch->NextEvent(), {"type"}), "ADDED");
  const auto expired = watch->NextEvent();
  EXPECT_EQ(TextAt(*expired, {"type"}), "ERROR");
  EXPECT_EQ(IntAt(*expired, {"object", "code"}), 410);
  Fault(R"({"match":{"verb":"watch"},"action":{"endAfterEvents":0}})");
  auto empty = Watch("");
  EXPECT_EQ(empty->ReadHead().status, 200);
  EXPECT_FALSE(empty->NextEvent());
  EXPECT_EQ(empty->end(), ReadEnd::kClosed);
  Fault(R"({"match":{"verb":"watch"},
            "action":{"errorAfterEvents":0,"errorStatus":{"code":429,"reason":"TooManyRequests"}}})");
  auto failed = Watch("");
  failed->ReadHead();
  EXPECT_EQ(IntAt(*failed->NextEvent(), {"object", "code"}), 429);
}

TEST_F(FaultsTest, C21_StrangeFrames) {
  Fault(R"({"match":{"verb":"watch"},"action":{"rawFrame":"{\"type\":\"GOSSIP\"}\n"}})");
  AddNode("a");
  auto watch = Watch("");
  watch->ReadHead();
  EXPECT_EQ(TextAt(*watch->NextEvent(), {"type"}), "GOSSIP");
  EXPECT_EQ(TextAt(*watch->NextEvent(), {"type"}), "ADDED");
}

TEST_F(FaultsTest, C18_ListenerCanGoAndComeBackOnItsPort) {
  server_->PauseListening();
  EXPECT_FALSE(SimClient(port_).connected());
  ASSERT_TRUE(server_->ResumeListening().ok());
  EXPECT_EQ(Get(kNodes).status, 200);
}

TEST_F(FaultsTest, ConnectionsCanBeEndedFromOutside) {
  auto orderly = Watch("");
  orderly->ReadHead();
  server_->CloseConnections(/*reset=*/false);
  EXPECT_FALSE(orderly->NextEvent());
  EXPECT_EQ(orderly->end(), ReadEnd::kClosed);
  auto reset = Watch("");
  reset->ReadHead();
  server_->CloseConnections(/*reset=*/true);
  EXPECT_FALSE(reset->NextEvent());
  EXPECT_EQ(reset->end(), ReadEnd::kReset);
}

TEST_F(FaultsTest, BadFaultsAreRefusedWithAllComplaints) {
  const auto refused = server_->ArmFault(
      R"({"match":{"verb":1,"target":"("},"time":2,"action":{"status":"x","dropp":"fin","drop":"odd"}})");
  ASSERT_FALSE(refused.ok());
  for (const char* part : {"match.verb", "match.target", "\"time\"", "did you mean \"times\"",
                           "action.status", "\"dropp\"", "action.drop is \"odd\""}) {
    EXPECT_NE(refused.status().message().find(part), std::string::npos)
        << part << " in " << refused.status().message();
  }
  EXPECT_FALSE(server_->ArmFault("no json").ok());
}

TEST_F(FaultsTest, CallsAreLoggedWithWhatWasSent) {
  AddNode("a");
  Fault(R"({"match":{"verb":"patch"},"action":{"status":500}})");
  SimClient client(port_);
  client.Do("PATCH", "/api/v1/nodes/a/status?x=1", "{}",
            "Content-Type: application/merge-patch+json\r\nAuthorization: Bearer secret");
  Patch("/api/v1/nodes/a/status", "merge", {{"status", {{"phase", "x"}}}});
  const std::vector<Call> calls = server_->Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].verb, "patch");
  EXPECT_EQ(calls[0].target, "/api/v1/nodes/a/status?x=1");
  EXPECT_EQ(calls[0].resource, "nodes");
  EXPECT_EQ(calls[0].name, "a");
  EXPECT_EQ(calls[0].subresource, "status");
  EXPECT_EQ(calls[0].content_type, "application/merge-patch+json");
  EXPECT_EQ(calls[0].user_agent, "sim-test/1");
  EXPECT_EQ(calls[0].body, "{}");
  EXPECT_EQ(calls[0].status, 500);
  EXPECT_NE(calls[0].fault, 0u);
  EXPECT_EQ(calls[1].status, 200);
  EXPECT_EQ(calls[1].fault, 0u);
  EXPECT_EQ(server_->counters().writes, 2u);
  server_->Reset();
  EXPECT_TRUE(server_->Calls().empty());
  EXPECT_EQ(Get("/api/v1/nodes/a").status, 404);
  EXPECT_EQ(Get("/api/v1/namespaces/kube-system").status, 200);
}

}  // namespace
}  // namespace otc::kubesim
