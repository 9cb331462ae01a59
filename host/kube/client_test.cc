#include "host/kube/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "host/kube/json_codec.h"
#include "host/kube/testing/kube_fixture.h"
#include "host/kube/testing/node_json.h"
#include "host/kube/testing/proto_encode.h"

namespace otc::host::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kNodeA[] =
    R"({"kind":"Node","metadata":{"name":"a","uid":"u","resourceVersion":"7"},"spec":{"providerID":"p"}})";

std::string StatusBody(int code, const std::string& reason, const std::string& message = "why") {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message +
         R"(","reason":")" + reason + R"(","code":)" + std::to_string(code) + "}";
}

class KubeClientTest : public KubeTest {
 protected:
  void AnswerAll(http::Outcome outcome) {
    script_->answer = [outcome](const http::Request&, const CallContext&) { return outcome; };
  }
  // Answers one after the other, the last one for ever.
  void AnswerInTurn(std::vector<http::Outcome> outcomes) {
    auto next = std::make_shared<std::size_t>(0);
    script_->answer = [outcomes, next](const http::Request&, const CallContext&) {
      const std::size_t i = std::min(*next, outcomes.size() - 1);
      ++*next;
      return outcomes[i];
    };
  }
  const http::Request& Sent(std::size_t i) { return script_->requests.at(i); }

  // Runs `call` while whoever sleeps on the fake clock is due at once; answers
  // how much time went by.
  template <typename F>
  Duration Timed(F call) {
    const MonoTime start = clock_.Now();
    std::atomic<bool> done = false;
    std::thread ticker([&] {
      while (!done) {
        const MonoTime due = clock_.EarliestDeadline();
        if (due != MonoTime::max() && due > clock_.Now()) clock_.Advance(due - clock_.Now());
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
    call();
    done = true;
    ticker.join();
    return clock_.Now() - start;
  }
};

TEST_F(KubeClientTest, GetsANodeInEitherEncoding) {
  AnswerInTurn({Answered(200, kNodeA), Answered(200, EncodeEnvelope("Node", EncodeNode([] {
                                                                      Node node;
                                                                      node.meta.name = "a";
                                                                      node.provider_id = "p";
                                                                      return node;
                                                                    }())),
                                                "application/vnd.kubernetes.protobuf")});
  for (int i = 0; i < 2; ++i) {
    const auto node = client().GetNode("a", "", context_);
    ASSERT_TRUE(node.ok()) << node.status().ToString();
    EXPECT_EQ(node->provider_id, "p");
  }
  EXPECT_EQ(Sent(0).target, "/k8s/x/api/v1/nodes/a") << "the server's path prefix is kept";
  EXPECT_EQ(Sent(0).origin.ToString(), "https://api.example:6443");
  EXPECT_EQ(Header(Sent(0), "Authorization"), "Bearer secret-token");
  EXPECT_EQ(Header(Sent(0), "Accept-Encoding"), "") << "no compression is asked for";
}

TEST_F(KubeClientTest, N17_TheVersionOfAReadIsTheCallers) {
  AnswerAll(Answered(200, kNodeA));
  (void)client().GetNode("a", "0", context_);
  (void)client().GetNode("a", "", context_);
  EXPECT_EQ(Sent(0).target, "/k8s/x/api/v1/nodes/a?resourceVersion=0");
  EXPECT_EQ(Sent(1).target, "/k8s/x/api/v1/nodes/a");
}

TEST_F(KubeClientTest, N13_NodesAreOnlyEverPatched) {
  AnswerAll(Answered(200, kNodeA));
  const std::string body = R"({"metadata":{"labels":{"a":"b"}}})";
  ASSERT_TRUE(client().PatchNode("a", PatchType::kMerge, body, "", context_).ok());
  ASSERT_TRUE(client().PatchNode("a", PatchType::kStrategicMerge, body, "status", context_).ok());
  ASSERT_TRUE(client().PatchNode("a", PatchType::kJson, "[]", "", context_).ok());
  EXPECT_EQ(Sent(0).method, "PATCH");
  EXPECT_EQ(Header(Sent(0), "Content-Type"), "application/merge-patch+json");
  EXPECT_EQ(Sent(0).body, body);
  EXPECT_EQ(Header(Sent(1), "Content-Type"), "application/strategic-merge-patch+json");
  EXPECT_EQ(Sent(1).target, "/k8s/x/api/v1/nodes/a/status");
  EXPECT_EQ(Header(Sent(2), "Content-Type"), "application/json-patch+json");
  RawRequest put;
  put.method = "PUT";
  put.path = "/api/v1/nodes/a";
  EXPECT_EQ(client().Call(put, context_).status().reason(), "PutRefused");
  EXPECT_EQ(script_->requests.size(), 3u);
}

TEST_F(KubeClientTest, DeletesWithPreconditions) {
  AnswerAll(Answered(200, StatusBody(200, "")));
  ASSERT_TRUE(client().DeleteNode("a", {"u1", "7"}, context_).ok());
  ASSERT_TRUE(client().DeleteNode("a", {}, context_).ok());
  EXPECT_EQ(Sent(0).method, "DELETE");
  EXPECT_EQ(ToJson(ParseObject(Sent(0).body)->getObject("preconditions")),
            R"({"resourceVersion":"7","uid":"u1"})");
  EXPECT_FALSE(ParseObject(Sent(1).body)->has("preconditions"));
}

TEST_F(KubeClientTest, ErrorsAreMappedByCodeAndReason) {
  struct Case {
    int http;
    const char* reason;
    Code code;
  };
  for (const Case& c :
       {Case{404, "NotFound", Code::kNotFound}, Case{409, "AlreadyExists", Code::kAlreadyExists},
        Case{409, "Conflict", Code::kAborted}, Case{410, "Expired", Code::kOutOfRange},
        Case{403, "Forbidden", Code::kPermissionDenied},
        Case{401, "Unauthorized", Code::kUnauthenticated},
        Case{422, "Invalid", Code::kInvalidArgument},
        Case{400, "BadRequest", Code::kInvalidArgument},
        Case{415, "UnsupportedMediaType", Code::kInvalidArgument},
        Case{429, "TooManyRequests", Code::kResourceExhausted},
        Case{500, "InternalError", Code::kUnavailable}, Case{504, "Timeout", Code::kUnavailable}}) {
    AnswerInTurn({Answered(c.http, StatusBody(c.http, c.reason)),
                  Answered(c.http, EncodeEnvelope("Status", EncodeStatus(c.http, c.reason, "why")),
                           "application/vnd.kubernetes.protobuf")});
    for (int i = 0; i < 2; ++i) {
      const Status status = client().PatchNode("a", PatchType::kMerge, "{}", "", context_).status();
      EXPECT_EQ(status.code(), c.code) << c.http;
      EXPECT_EQ(status.reason(), c.reason);
      EXPECT_NE(status.message().find("why"), std::string::npos);
      EXPECT_NE(status.message().find("/api/v1/nodes/a"), std::string::npos);
    }
  }
}

TEST_F(KubeClientTest, C39_AnswersOfProxiesAreClassifiedByTheirCode) {
  AnswerInTurn({Answered(502, "<html>bad gateway</html>", "text/html"),
                Answered(200, "", "application/json"), Answered(200, "<html>", "text/html"),
                Answered(200, "\x1f\x8b", "application/json", {{"content-encoding", "gzip"}}),
                Answered(404, "", ""),
                Answered(200, "k8s", "application/vnd.kubernetes.protobuf")});
  auto patch = [&] {
    return client().PatchNode("a", PatchType::kMerge, "{}", "", context_).status();
  };
  EXPECT_EQ(patch().code(), Code::kUnavailable);
  EXPECT_EQ(patch().reason(), "BadJson");
  const Status html = patch();
  EXPECT_EQ(html.code(), Code::kUnavailable);
  EXPECT_EQ(html.reason(), "UnexpectedMediaType");
  EXPECT_EQ(patch().reason(), "UnexpectedEncoding");
  const Status missing = patch();
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_EQ(missing.reason(), "NotFound");
  EXPECT_EQ(patch().reason(), "BadProtobuf");
}

TEST_F(KubeClientTest, C35_AWriteWithoutAnswerIsNeverRepeated) {
  AnswerAll(Failed(http::Delivery::kUnclear, "ConnectionLost"));
  const Status status = client().PatchNode("a", PatchType::kMerge, "{}", "", context_).status();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.reason(), "ConnectionLost");
  EXPECT_EQ(script_->requests.size(), 1u);
  EXPECT_EQ(metrics_.Sum("rest_client_requests_total", {{"code", "<error>"}}), 1);
}

TEST_F(KubeClientTest, C34_ReadsAreRepeatedOnANewConnectionAfterASecond) {
  AnswerInTurn({Failed(http::Delivery::kUnclear, "ConnectionLost"), Answered(200, kNodeA)});
  const Duration took = Timed([&] { EXPECT_TRUE(client().GetNode("a", "", context_).ok()); });
  EXPECT_EQ(took, seconds(1));
  EXPECT_EQ(script_->requests.size(), 2u);
}

TEST_F(KubeClientTest, ReadsGiveUpAfterTenRepetitions) {
  AnswerAll(Failed(http::Delivery::kUnclear, "ConnectionLost"));
  Timed(
      [&] { EXPECT_EQ(client().GetNode("a", "", context_).status().reason(), "ConnectionLost"); });
  EXPECT_EQ(script_->requests.size(), 11u);
}

TEST_F(KubeClientTest, AServerThatIsNotThereIsToldAtOnce) {
  for (const char* reason : {"ConnectFailed", "DnsFailed", "TlsFailed"}) {
    AnswerAll(Failed(http::Delivery::kNotSent, reason));
    script_->requests.clear();
    const Status status = client().GetNode("a", "", context_).status();
    EXPECT_EQ(status.code(), Code::kUnavailable);
    EXPECT_EQ(status.reason(), reason);
    EXPECT_EQ(script_->requests.size(), 1u);
  }
}

TEST_F(KubeClientTest, RetryAfterIsObeyedForWritesToo) {
  AnswerInTurn({Answered(429, StatusBody(429, "TooManyRequests"), "application/json",
                         {{"retry-after", "3"}}),
                Answered(503, "", "", {{"retry-after", "2"}}), Answered(200, kNodeA)});
  const Duration took = Timed(
      [&] { EXPECT_TRUE(client().PatchNode("a", PatchType::kMerge, "{}", "", context_).ok()); });
  EXPECT_EQ(took, seconds(5));
  EXPECT_EQ(metrics_.Sum("rest_client_request_retries_total"), 2);
  EXPECT_EQ(gate_.asked, 3) << "every attempt asks whether it may still write";
}

TEST_F(KubeClientTest, WithoutRetryAfterTheAnswerIsTheCallers) {
  AnswerAll(Answered(503, StatusBody(503, "ServiceUnavailable")));
  EXPECT_EQ(client().GetNode("a", "", context_).status().code(), Code::kUnavailable);
  EXPECT_EQ(script_->requests.size(), 1u);
}

TEST_F(KubeClientTest, ARetryThatWouldMissTheDeadlineIsNotWaitedFor) {
  AnswerAll(Answered(429, StatusBody(429, "TooManyRequests"), "application/json",
                     {{"retry-after", "30"}}));
  CallContext soon = context_.WithTimeout(seconds(10));
  const Status status = client().GetNode("a", "", soon).status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_EQ(status.retry_after_ms(), 30'000u);
}

TEST_F(KubeClientTest, WritesNeedTheGateAndEndBeforeItCloses) {
  MonoTime deadline;
  script_->answer = [&](const http::Request&, const CallContext& context) {
    deadline = context.deadline;
    return Answered(200, kNodeA);
  };
  gate_.until = clock_.Now() + seconds(6);
  ASSERT_TRUE(client().PatchNode("a", PatchType::kMerge, "{}", "", context_).ok());
  EXPECT_EQ(deadline, gate_.until);
  ASSERT_TRUE(client().GetNode("a", "", context_).ok());
  EXPECT_EQ(deadline, MonoTime::max()) << "reads are free";
  gate_.open = false;
  EXPECT_EQ(client().PatchNode("a", PatchType::kMerge, "{}", "", context_).status().reason(),
            "LeaseLost");
  EXPECT_EQ(client().DeleteNode("a", {}, context_).reason(), "LeaseLost");
  EXPECT_EQ(script_->requests.size(), 2u);
}

TEST_F(KubeClientTest, LeasesAndEventsDoNotAskTheGate) {
  gate_.open = false;
  AnswerAll(Answered(201, R"({"kind":"Lease","metadata":{"name":"l","resourceVersion":"1"}})"));
  Lease lease;
  lease.meta.namespace_ = "kube-system";
  lease.meta.name = "l";
  EXPECT_TRUE(client().CreateLease(lease, context_).ok());
  RawRequest event;
  event.method = "POST";
  event.path = "/api/v1/namespaces/default/events";
  event.lane = Lane::kEvents;
  EXPECT_TRUE(client().Call(event, context_).ok());
}

TEST_F(KubeClientTest, LabelsAndAnnotationsOfALeaseSurviveItsRenewal) {
  const auto lease = LeaseFromJson(
      R"({"metadata":{"name":"l","namespace":"n","resourceVersion":"7","labels":{"a":"b"},)"
      R"("annotations":{"example.com/note":"x \"y\""}},"spec":{"holderIdentity":"me"}})");
  ASSERT_TRUE(lease.ok()) << lease.status().ToString();
  const std::string written = LeaseToJson(*lease);
  EXPECT_NE(written.find(R"("labels":{"a":"b"})"), std::string::npos) << written;
  EXPECT_NE(written.find(R"("annotations":{"example.com/note":"x \"y\""})"), std::string::npos)
      << written;
}

TEST_F(KubeClientTest, LeasesAreWrittenAsTheServerWantsThem) {
  AnswerAll(Answered(200, R"({"kind":"Lease","metadata":{"name":"l","namespace":"kube-system",
    "uid":"u","resourceVersion":"2"},"spec":{"holderIdentity":"me","leaseDurationSeconds":15,
    "acquireTime":"2026-01-01T00:00:00.000000Z","renewTime":"2026-01-01T00:00:02.000000Z",
    "leaseTransitions":3}})"));
  Lease lease;
  lease.meta.namespace_ = "kube-system";
  lease.meta.name = "l";
  lease.holder = "me \"x\"";
  lease.duration_seconds = 15;
  lease.acquire_time = FormatMicroTime(clock_.Wall());
  lease.renew_time = lease.acquire_time;
  EXPECT_EQ(client().UpdateLease(lease, context_).status().reason(), "NoResourceVersion");
  lease.meta.resource_version = "1";
  const auto stored = client().UpdateLease(lease, context_);
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->transitions, 3);
  EXPECT_EQ(stored->renew_time, "2026-01-01T00:00:02.000000Z");
  EXPECT_EQ(Sent(0).method, "PUT");
  EXPECT_EQ(Sent(0).target, "/k8s/x/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l");
  const auto body = ParseObject(Sent(0).body);
  EXPECT_EQ(body->getObject("metadata")->getValue<std::string>("resourceVersion"), "1");
  EXPECT_EQ(body->getObject("spec")->getValue<std::string>("holderIdentity"), "me \"x\"");
  EXPECT_EQ(body->getObject("spec")->getValue<std::string>("renewTime"),
            "2026-01-01T00:00:00.000000Z");
}

TEST_F(KubeClientTest, C36_NamesAndQueriesArePercentEncoded) {
  AnswerAll(Answered(200, kNodeA));
  (void)client().GetNode("a:b/c+d e%\xc3\xa4", "1&2", context_);
  EXPECT_EQ(Sent(0).target, "/k8s/x/api/v1/nodes/a%3Ab%2Fc%2Bd%20e%25%C3%A4?resourceVersion=1%262");
}

TEST_F(KubeClientTest, C37_ABurstOfAHundredWritesTakesThreeAndAHalfSecondsAndLeasesNone) {
  AnswerAll(Answered(200, kNodeA));
  const Duration took = Timed([&] {
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(client().PatchNode("a", PatchType::kMerge, "{}", "", context_).ok());
    }
  });
  EXPECT_NEAR(std::chrono::duration<double>(took).count(), 3.5, 0.01);
  // The normal lane is used up now.
  AnswerAll(Answered(200, R"({"metadata":{"name":"l"}})"));
  const Duration lease = Timed([&] { (void)client().GetLease("kube-system", "l", context_); });
  EXPECT_EQ(lease, Duration::zero());
}

TEST_F(KubeClientTest, EachLaneHasItsOwnConnections) {
  client();
  EXPECT_EQ(script_->clients, 3);
  EXPECT_EQ(script_->options.at(1).user_agent, "otc-host/leader-election");
}

TEST_F(KubeClientTest, CancellationEndsTheWaitForTheRateLimit) {
  options_.qps = 0.001;
  options_.burst = 1;
  AnswerAll(Answered(200, kNodeA));
  ASSERT_TRUE(client().GetNode("a", "", context_).ok());
  std::thread canceller([&] {
    ASSERT_TRUE(clock_.AwaitWaiters(1));
    context_.cancellation->Cancel("Quiescing");
  });
  EXPECT_EQ(client().GetNode("a", "", context_).status().reason(), "Quiescing");
  canceller.join();
}

TEST_F(KubeClientTest, MetricsHaveTheNamesOfClientGo) {
  AnswerAll(Answered(200, kNodeA));
  (void)client().GetNode("a", "", context_);
  EXPECT_EQ(metrics_.Sum("rest_client_requests_total",
                         {{"code", "200"}, {"method", "GET"}, {"host", "api.example:6443"}}),
            1);
  const std::string text = metrics_.Render();
  for (const char* name :
       {"rest_client_request_duration_seconds", "rest_client_rate_limiter_duration_seconds",
        "rest_client_request_size_bytes", "rest_client_response_size_bytes"}) {
    EXPECT_NE(text.find(std::string(name) + "_count{"), std::string::npos) << name;
  }
}

TEST_F(KubeClientTest, TheTokenIsInNoLogErrorOrMetric) {
  AnswerInTurn({Answered(401, StatusBody(401, "Unauthorized")),
                Failed(http::Delivery::kUnclear, "ConnectionLost")});
  std::string all;
  for (int i = 0; i < 2; ++i) {
    all += client().PatchNode("a", PatchType::kMerge, "{}", "", context_).status().ToString();
  }
  for (const std::string& line : log_.Lines()) all += line;
  all += metrics_.Render();
  EXPECT_EQ(all.find("secret-token"), std::string::npos);
}

}  // namespace
}  // namespace otc::host::kube
