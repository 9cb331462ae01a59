// When a request is sent again, how long it waits, and what is said about a write
// that may have happened.
#include "host/cloud/testing/transport_fixture.h"

namespace otc::host::cloud {
namespace {

using plugin::v1::OUTCOME_ANSWERED;
using plugin::v1::OUTCOME_NOT_SENT;
using plugin::v1::OUTCOME_UNCLEAR;
using std::chrono::milliseconds;
using std::chrono::seconds;

class TransportRetryTest : public TransportFixture {};

// Every condition with every kind of method: how often it is sent, and what is
// said about it in the end. The table is errors-and-limits' §5.
TEST_F(TransportRetryTest, RetriesByTheTable) {
  const auto coded = [](int status, const std::string& code) {
    return Reply(status, R"({"error_code":")" + code + R"(","error_msg":"m"})");
  };
  const struct {
    const char* name;
    http::Outcome answer;
    int get, put, put_idempotent, post, post_idempotent;  // attempts
    plugin::v1::Outcome write_outcome;
  } rows[] = {
      {"no connection", NotSent(), 5, 5, 5, 5, 5, OUTCOME_NOT_SENT},
      {"lost", Lost(), 5, 1, 5, 1, 5, OUTCOME_UNCLEAR},
      {"504", Reply(504, ""), 5, 1, 5, 1, 5, OUTCOME_UNCLEAR},
      {"408", Reply(408, ""), 5, 1, 5, 1, 5, OUTCOME_UNCLEAR},
      {"429", coded(429, "APIGW.0308"), 5, 5, 5, 5, 5, OUTCOME_ANSWERED},
      {"flow limit", coded(202, "Common.0024"), 1, 5, 5, 5, 5, OUTCOME_ANSWERED},
      {"500", Reply(500, ""), 3, 3, 3, 1, 5, OUTCOME_UNCLEAR},
      {"502", Reply(502, "<html>"), 5, 5, 5, 1, 5, OUTCOME_UNCLEAR},
      {"503", coded(503, "APIGW.0613"), 5, 5, 5, 1, 5, OUTCOME_UNCLEAR},
      {"busy", coded(409, "VPC.0512"), 1, 5, 5, 5, 5, OUTCOME_ANSWERED},
      {"exists", coded(409, "VPC.9902"), 1, 1, 1, 1, 1, OUTCOME_ANSWERED},
      {"quota", coded(409, "VPC.9905"), 1, 1, 1, 1, 1, OUTCOME_ANSWERED},
      {"400", coded(400, "Ecs.0005"), 1, 1, 1, 1, 1, OUTCOME_ANSWERED},
      {"403", coded(403, "APIGW.0302"), 1, 1, 1, 1, 1, OUTCOME_ANSWERED},
      {"404", coded(404, "Ecs.0114"), 1, 1, 1, 1, 1, OUTCOME_ANSWERED},
      {"405", Reply(405, ""), 1, 1, 1, 1, 1, OUTCOME_ANSWERED},
      {"413", Reply(413, ""), 1, 1, 1, 1, 1, OUTCOME_ANSWERED},
      {"414", Reply(414, ""), 1, 1, 1, 1, 1, OUTCOME_ANSWERED},
      {"200", Reply(200), 1, 1, 1, 1, 1, OUTCOME_ANSWERED},
      {"too large", Failure(http::Delivery::kUnclear, Code::kResourceExhausted, "AnswerTooLarge"),
       1, 1, 1, 1, 1, OUTCOME_UNCLEAR},
  };
  One(Get("/v1/{project_id}/warm-up"));
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    cloud_ = [&](const http::Request&, const CallContext&) { return row.answer; };
    const auto attempts = [&](const Request& request) {
      const int before = Sent();
      const Response response = One(request, Context(std::chrono::hours(1)));
      EXPECT_EQ(response.attempts(), static_cast<std::uint32_t>(Sent() - before));
      if (request.effect() == plugin::v1::EFFECT_WRITE) {
        EXPECT_EQ(response.outcome(), row.write_outcome);
      }
      clock_.Advance(std::chrono::hours(1));
      return Sent() - before;
    };
    EXPECT_EQ(attempts(Get("/v1/x")), row.get);
    EXPECT_EQ(attempts(Write("PUT", "/v1/x", false)), row.put);
    EXPECT_EQ(attempts(Write("DELETE", "/v1/x", false)), row.put);
    EXPECT_EQ(attempts(Write("PUT", "/v1/x", true)), row.put_idempotent);
    EXPECT_EQ(attempts(Write("POST", "/v1/x", false)), row.post);
    EXPECT_EQ(attempts(Write("PATCH", "/v1/x", false)), row.post);
    EXPECT_EQ(attempts(Write("POST", "/v1/x", true)), row.post_idempotent);
  }
}

TEST_F(TransportRetryTest, ASearchByPostIsRepeatedLikeARead) {
  cloud_ = [](const http::Request&, const CallContext&) { return Reply(503, ""); };
  Request search = Write("POST", "/v1/x/action", false);
  search.set_effect(plugin::v1::EFFECT_READ);
  EXPECT_EQ(One(search).attempts(), 5u);
}

TEST_F(TransportRetryTest, EveryAttemptIsSignedAnew) {
  cloud_ = [](const http::Request&, const CallContext&) { return Reply(503, ""); };
  One(Get("/v1/x"));
  std::vector<std::string> dates;
  for (const http::Request& request : script_.Requests()) {
    int signatures = 0;
    for (const http::Header& header : request.headers) {
      if (header.name == "Authorization") ++signatures;
    }
    EXPECT_EQ(signatures, 1);
    dates.push_back(HeaderOf(request, "X-Sdk-Date"));
  }
  ASSERT_EQ(dates.size(), 6u);
  EXPECT_LT(dates[1], dates.back());
}

TEST_F(TransportRetryTest, PausesGrowAndHonourRetryAfterAndTheDeadline) {
  One(Get("/v1/warm-up"));
  cloud_ = [](const http::Request&, const CallContext&) { return Reply(503, ""); };
  MonoTime start = clock_.Now();
  EXPECT_EQ(One(Get("/v1/x")).attempts(), 5u);
  EXPECT_EQ(clock_.Now() - start, milliseconds(7500));  // half of 1 + 2 + 4 + 8

  cloud_ = [](const http::Request&, const CallContext&) {
    return Reply(503, "", {{"retry-after", "20"}});
  };
  start = clock_.Now();
  EXPECT_EQ(One(Get("/v1/x")).attempts(), 5u);
  EXPECT_EQ(clock_.Now() - start, seconds(80));

  // A pause beyond the deadline is not begun; the caller learns of it.
  start = clock_.Now();
  const Response response = One(Get("/v1/x"), Context(seconds(30)));
  EXPECT_EQ(response.attempts(), 2u);
  EXPECT_EQ(clock_.Now() - start, seconds(20));
  EXPECT_EQ(response.retry_after_ms(), 20'000u);
  EXPECT_EQ(response.http_status(), 503u);
}

TEST_F(TransportRetryTest, P_E4_ThrottlingSlowsEverybodyOfTheService) {
  One(Get("/v1/warm-up"));
  cloud_ = [](const http::Request&, const CallContext&) {
    return Reply(429, R"({"error_code":"APIGW.0308","error_msg":"m"})", {{"retry-after", "40"}});
  };
  const Response response = One(Get("/v1/x"), Context(seconds(30)));
  EXPECT_EQ(CodeOf(response), Code::kResourceExhausted);
  EXPECT_EQ(response.attempts(), 1u);
  EXPECT_EQ(response.retry_after_ms(), 40'000u);
  const int before = Sent();
  for (int i = 0; i < 20; ++i) {  // no storm: nothing is sent during the pause
    const Response other = One(Get("/v1/y"), Context(seconds(30)));
    EXPECT_EQ(other.outcome(), OUTCOME_NOT_SENT);
    EXPECT_NE(other.message().find("Throttled"), std::string::npos);
    EXPECT_GT(other.retry_after_ms(), 0u);
  }
  EXPECT_EQ(Sent(), before);
  cloud_ = [](const http::Request&, const CallContext&) { return Reply(200); };
  EXPECT_EQ(CodeOf(One(Get("/v1/z", "evs"), Context(seconds(30)))), Code::kOk);
  EXPECT_EQ(CodeOf(One(Get("/v1/y"), Context(seconds(60)))), Code::kOk);
  EXPECT_EQ(metrics_.Sum("otc_cloud_throttled_total"), 1);
}

TEST_F(TransportRetryTest, AConnectionThatDiedWhileIdleIsReplacedAtOnce) {
  One(Get("/v1/warm-up"));
  int calls = 0;
  cloud_ = [&](const http::Request&, const CallContext&) {
    if (++calls > 1) return Reply(200);
    http::Outcome lost = Lost();
    lost.reused_connection = true;
    return lost;
  };
  const MonoTime start = clock_.Now();
  EXPECT_EQ(One(Get("/v1/x")).attempts(), 2u);
  EXPECT_EQ(clock_.Now(), start);
  calls = 0;  // never for a write that may have happened
  EXPECT_EQ(One(Write("POST", "/v1/x", false)).outcome(), OUTCOME_UNCLEAR);
  EXPECT_EQ(calls, 1);
}

TEST_F(TransportRetryTest, AWriteThatMayHaveHappenedStaysUnclear) {
  One(Get("/v1/warm-up"));
  std::vector<http::Outcome> answers = {Lost(), NotSent(), NotSent(), NotSent(), NotSent()};
  std::size_t next = 0;
  cloud_ = [&](const http::Request&, const CallContext&) { return answers.at(next++); };
  EXPECT_EQ(One(Write("PUT", "/v1/x", true)).outcome(), OUTCOME_UNCLEAR);
  answers = {Lost(), Reply(200)};
  next = 0;
  EXPECT_EQ(One(Write("PUT", "/v1/x", true)).outcome(), OUTCOME_ANSWERED);
  answers = {Lost(), Reply(404, R"({"error_code":"Ecs.0114","error_msg":"m"})")};
  next = 0;
  const Response gone = One(Write("DELETE", "/v1/x", true));
  EXPECT_EQ(gone.outcome(), OUTCOME_ANSWERED);
  EXPECT_TRUE(gone.proves_absence());
}

TEST_F(TransportRetryTest, TimeoutsOfAnAttempt) {
  One(Get("/v1/warm-up"));
  Duration given{};
  cloud_ = [&](const http::Request&, const CallContext& context) {
    given = context.deadline - clock_.Now();
    return Reply(200);
  };
  One(Get("/v1/x"));
  EXPECT_EQ(given, seconds(30));
  Request request = Get("/v1/x");
  request.set_timeout_ms(1500);
  request.set_max_response_bytes(77);
  One(request);
  EXPECT_EQ(given, milliseconds(1500));
  EXPECT_EQ(script_.Requests().back().max_response_bytes, 77u);
  One(request, Context(milliseconds(200)));
  EXPECT_EQ(given, milliseconds(200));
}

TEST_F(TransportRetryTest, TheGateIsAskedBeforeEachAttemptOfALeadersWrite) {
  One(Get("/v1/warm-up"));
  cloud_ = [](const http::Request&, const CallContext&) { return Reply(503, ""); };
  One(Write("PUT", "/v1/x", true), Context(), /*leader_only=*/true);
  EXPECT_EQ(gate_.asked, 5);
  One(Get("/v1/x"), Context(), true);           // a read
  One(Write("PUT", "/v1/x", true), Context());  // not leader only
  EXPECT_EQ(gate_.asked, 5);

  gate_.open_for = 0;
  int before = Sent();
  const Response refused = One(Write("PUT", "/v1/x", true), Context(), true);
  EXPECT_EQ(Sent(), before);
  EXPECT_EQ(refused.outcome(), OUTCOME_NOT_SENT);
  EXPECT_EQ(CodeOf(refused), Code::kFailedPrecondition);
  EXPECT_NE(refused.message().find("LeaseLost"), std::string::npos);

  gate_.open_for = 1;  // lost between two attempts, the first of which may have worked
  before = Sent();
  cloud_ = [](const http::Request&, const CallContext&) { return Lost(); };
  const Response cut = One(Write("PUT", "/v1/x", true), Context(), true);
  EXPECT_EQ(Sent() - before, 1);
  EXPECT_EQ(cut.outcome(), OUTCOME_UNCLEAR);
  EXPECT_EQ(CodeOf(cut), Code::kFailedPrecondition);

  gate_.open_for = 1;  // the time-out is cut to the rest of the lease
  gate_.until = clock_.Now() + seconds(3);
  Duration given{};
  cloud_ = [&](const http::Request&, const CallContext& context) {
    given = context.deadline - clock_.Now();
    return Reply(200);
  };
  One(Write("PUT", "/v1/x", true), Context(), true);
  EXPECT_EQ(given, seconds(3));
}

TEST_F(TransportRetryTest, ARefusedGateDoesNotBlockTheCredentialGuard) {
  config_.project_id = kTestProject;  // so that nothing was accepted yet
  gate_.open_for = 0;
  for (int i = 0; i < 3; ++i) One(Write("PUT", "/v1/x", true), Context(), true);
  EXPECT_EQ(CodeOf(One(Get("/v1/x"))), Code::kOk);
}

}  // namespace
}  // namespace otc::host::cloud
