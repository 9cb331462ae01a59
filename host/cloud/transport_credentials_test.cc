// Keys, clock, project and reload: what happens when cloud.conf or the clock is
// wrong, and that no secret is ever shown.
#include "host/cloud/testing/transport_fixture.h"

namespace otc::host::cloud {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr char kRefusal[] =
    R"({"error_msg":"verify aksk signature fail, ak:AKMARKED000000000001","error_code":"APIGW.0301","request_id":"r-401"})";

class TransportCredentialsTest : public TransportFixture {
 protected:
  static bool SignedBy(const http::Request& request, const std::string& ak) {
    return HeaderOf(request, "Authorization").find("Credential=" + ak + "/") != std::string::npos;
  }
  // A cloud that knows only this key.
  void AcceptOnly(const std::string& ak) {
    iam_ = cloud_ = [ak](const http::Request& request, const CallContext&) {
      return SignedBy(request, ak) ? Reply(200, Projects()) : Reply(401, kRefusal);
    };
  }
  // A cloud whose clock is `ahead` of ours and that refuses other times.
  void CheckClock(Duration ahead) {
    iam_ = cloud_ = [this, ahead](const http::Request& request, const CallContext&) {
      const WallTime now = clock_.Wall() + ahead;
      const std::string date = HeaderOf(request, "X-Sdk-Date");
      const bool good =
          date >= FormatSdkDate(now - minutes(15)) && date <= FormatSdkDate(now + minutes(15));
      const std::vector<http::Header> headers = {{"date", HttpDate(now)}};
      return good ? Reply(200, Projects(), headers) : Reply(401, kRefusal, headers);
    };
  }
  static std::string HttpDate(WallTime time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[64];
    std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return text;
  }
  std::string File(const std::string& ak, const std::string& sk, const std::string& more = "") {
    return "[Global]\naccess-key=" + ak + "\nsecret-key=" + sk +
           "\nregion=eu-de\nproject-name=eu-de_prod\n" + more;
  }
};

TEST_F(TransportCredentialsTest, TwoRefusalsStopTheKeyUntilItChanges) {
  AcceptOnly("AKGOOD00000000000001");
  for (int i = 0; i < 50; ++i) {
    clock_.Advance(minutes(1));
    const Response response = One(Get("/v1/{project_id}/x"));
    EXPECT_EQ(CodeOf(response), Code::kUnauthenticated);
  }
  EXPECT_EQ(Sent(), 2);
  EXPECT_EQ(metrics_.Sum("otc_cloud_credentials_stopped"), 1);
  EXPECT_EQ(metrics_.Sum("otc_cloud_unauthorized_total"), 2);

  CloudConfig fixed = config_;
  fixed.credentials = {"AKGOOD00000000000001", "SkGood0123456789", ""};
  ASSERT_TRUE(transport().Reload(fixed, Context()).ok());
  EXPECT_EQ(metrics_.Sum("otc_cloud_credentials_stopped"), 0);
  EXPECT_EQ(CodeOf(One(Get("/v1/{project_id}/x"))), Code::kOk);
}

TEST_F(TransportCredentialsTest, RefusalsByAServiceCountToo) {
  SystemClock clock;  // threads really wait for each other here
  config_.project_id = kTestProject;
  cloud_ = [](const http::Request&, const CallContext&) { return Reply(401, kRefusal); };
  auto made = Transport::Create(
      config_, {clock, random_, log_, metrics_, gate_, Deps().make_client, "otc-host/test"});
  ASSERT_TRUE(made.ok());
  plugin::v1::CloudBatch batch;
  for (int i = 0; i < 30; ++i) *batch.add_requests() = Get("/v1/" + std::to_string(i));
  batch.set_max_parallel(8);
  CallContext context;
  context.clock = &clock;
  context.deadline = clock.Now() + minutes(1);
  int refused = 0;
  const Status status =
      (*made)->Exchange({"node", false}, batch, context, [&](const Response& response) {
        if (CodeOf(response) == Code::kUnauthenticated) ++refused;
      });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(refused, 30);
  EXPECT_EQ(Sent(), 2);  // also with eight in parallel
}

TEST_F(TransportCredentialsTest, AClockAnHourOffIsCorrectedOnce) {
  for (const Duration ahead : {Duration(hours(1)), Duration(-hours(1))}) {
    transport_.reset();
    CheckClock(ahead);
    const int before = Sent();
    const double corrections = metrics_.Sum("otc_cloud_clock_corrections_total");
    EXPECT_TRUE(transport().Probe(Context()).ok());
    EXPECT_EQ(Sent() - before, 2);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(CodeOf(One(Get("/v1/{project_id}/x"))), Code::kOk);
    EXPECT_EQ(Sent() - before, 12);
    EXPECT_EQ(metrics_.Sum("otc_cloud_clock_corrections_total") - corrections, 1);
    EXPECT_EQ(metrics_.Sum("otc_cloud_clock_offset_seconds"),
              std::chrono::duration<double>(ahead).count());
  }
  EXPECT_EQ(metrics_.Sum("otc_cloud_unauthorized_total"), 0);
}

TEST_F(TransportCredentialsTest, AClockThatIsSetLaterIsCorrectedBack) {
  CheckClock(hours(1));
  ASSERT_TRUE(transport().Probe(Context()).ok());
  clock_.SetWall(clock_.Wall() + hours(1));  // the machine's clock is repaired …
  CheckClock(Duration::zero());              // … and now agrees with the cloud's
  EXPECT_EQ(CodeOf(One(Get("/v1/x"))), Code::kOk);
  EXPECT_EQ(metrics_.Sum("otc_cloud_clock_corrections_total"), 2);
  EXPECT_EQ(metrics_.Sum("otc_cloud_clock_offset_seconds"), 0);
}

TEST_F(TransportCredentialsTest, AWrongKeyAndAWrongDateDoNotLoop) {
  iam_ = cloud_ = [](const http::Request&, const CallContext&) {
    return Reply(401, kRefusal, {{"date", "Mon, 30 Nov 2020 16:43:43 GMT"}});
  };
  for (int i = 0; i < 20; ++i) One(Get("/v1/{project_id}/x"));
  EXPECT_LE(Sent(), 4);  // below the five that lock the key
}

TEST_F(TransportCredentialsTest, ProbeSaysWhatIsWrong) {
  const struct {
    const char* name;
    http::Outcome answer;
    Code code;
    const char *reason, *part;
  } rows[] = {
      {"wrong secret", Reply(401, kRefusal), Code::kUnauthenticated, "CredentialsRefused",
       "refuses access-key and secret-key of cloud.conf"},
      {"expired key", Reply(400, R"({"error_code":"IAM.1105","error_msg":"m"})"),
       Code::kUnauthenticated, "CredentialsRefused", "IAM.1105"},
      {"wrong project", Reply(200, R"({"projects":[]})"), Code::kNotFound, "ProjectNotFound",
       "no project is named \"eu-de_prod\""},
      {"server ignores the filter", Reply(200, Projects("p1", "eu-de")), Code::kNotFound,
       "ProjectNotFound", "correct project-name"},
      {"two projects",
       Reply(200,
             R"({"projects":[{"id":"a","name":"eu-de_prod"},{"id":"b","name":"eu-de_prod"}]})"),
       Code::kFailedPrecondition, "ProjectAmbiguous", "2 projects"},
      {"disabled", Reply(200, R"({"projects":[{"id":"a","name":"eu-de_prod","enabled":false}]})"),
       Code::kFailedPrecondition, "ProjectDisabled", "is disabled"},
      {"denied", Reply(403, R"({"error":{"code":403,"message":"m","title":"Forbidden"}})"),
       Code::kPermissionDenied, "ProjectLookupDenied", "give project-id"},
      {"unreachable", NotSent(), Code::kUnavailable, "CloudUnreachable",
       "https://iam.eu-de.otc.t-systems.com"},
      {"bad CA", Failure(http::Delivery::kNotSent, Code::kUnavailable, "TlsFailed"),
       Code::kUnavailable, "CloudUnreachable", "TlsFailed"},
      {"not IAM", Reply(200, "<html>"), Code::kUnavailable, "IamFailed",
       "is [Endpoints] iam right"},
      {"not a list", Reply(200, R"({"projects":{}})"), Code::kUnavailable, "IamFailed",
       "not a list"},
      {"items of another kind", Reply(200, R"({"projects":[1,null]})"), Code::kUnavailable,
       "IamFailed", "not a list"},
      {"evil id", Reply(200, Projects("../../x")), Code::kUnavailable, "IamFailed", "not a list"},
      {"gateway", Reply(404, R"({"error_code":"APIGW.0101","error_msg":"m"})"),
       Code::kUnimplemented, "IamFailed", "APIGW.0101"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    transport_.reset();
    iam_ = [&](const http::Request&, const CallContext&) { return row.answer; };
    const Status status = transport().Probe(Context());
    EXPECT_EQ(CodeName(status.code()), std::string(CodeName(row.code)));
    EXPECT_EQ(status.reason(), row.reason);
    EXPECT_NE(status.message().find(row.part), std::string::npos) << status.message();
    EXPECT_EQ(status.message().find("MARKED"), std::string::npos) << status.message();
  }
}

TEST_F(TransportCredentialsTest, ProbeByProjectId) {
  config_.project_id = kTestProject;
  const auto probe = [&](http::Outcome answer) {
    transport_.reset();
    iam_ = [answer](const http::Request&, const CallContext&) { return answer; };
    return transport().Probe(Context());
  };
  EXPECT_TRUE(probe(Reply(200, R"({"project":{}})")).ok());
  EXPECT_EQ(script_.Requests().back().target, std::string("/v3/projects/") + kTestProject);
  EXPECT_TRUE(probe(Reply(403, "")).ok());  // the key is good, and that is all one can know
  EXPECT_EQ(probe(Reply(404, "{}")).reason(), "ProjectNotFound");
  EXPECT_EQ(probe(Reply(401, kRefusal)).reason(), "CredentialsRefused");
}

TEST_F(TransportCredentialsTest, ProbeOfACallThatEndsOrIsThrottled) {
  CallContext context = Context();
  context.cancellation = Cancellation::Create();
  iam_ = [&](const http::Request&, const CallContext&) {
    context.cancellation->Cancel("Quiescing");
    return Failure(http::Delivery::kUnclear, Code::kCancelled, "Quiescing");
  };
  EXPECT_EQ(transport().Probe(context).code(), Code::kCancelled);
  transport_.reset();
  iam_ = [](const http::Request&, const CallContext&) {
    return Reply(429, R"({"error_code":"IAM.0012","error_msg":"m"})", {{"retry-after", "900"}});
  };
  const Status throttled = transport().Probe(Context());
  EXPECT_EQ(throttled.reason(), "IamFailed");
  EXPECT_EQ(throttled.retry_after_ms(), 900'000u);
  auto made = Transport::CreateForMetadata("", Deps());
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->Probe(Context()).reason(), "NoCredentials");
}

TEST_F(TransportCredentialsTest, TheDomainDecidesBetweenProjectsOfOneName) {
  config_.domain_name = "OTC-EU-DE-1";
  iam_ = [](const http::Request&, const CallContext&) {
    return Reply(200, R"({"projects":[{"id":"a","name":"eu-de_prod","domain_id":"d1"},
                                      {"id":"b","name":"eu-de_prod","domain_id":"d2"}]})");
  };
  cloud_ = [](const http::Request& request, const CallContext&) {
    if (request.target.substr(0, 16) != "/v3/auth/domains") return Reply(200);
    return Reply(200, R"({"domains":[{"id":"d2","name":"OTC-EU-DE-1"}]})");
  };
  EXPECT_EQ(CodeOf(One(Get("/v1/{project_id}/x"))), Code::kOk);
  EXPECT_EQ(script_.Requests().back().target, "/v1/b/x");
}

TEST_F(TransportCredentialsTest, P_I1_ReloadTriesFirstAndKeepsTheOldOnFailure) {
  const auto result = [&](const char* name) {
    return metrics_.Sum("otc_host_credentials_reload_total", {{"result", name}});
  };
  AcceptOnly(kTestAk);
  ASSERT_EQ(CodeOf(One(Get("/v1/{project_id}/x"))), Code::kOk);
  const auto reload = [&](const std::string& text) {
    return transport().ReloadText(text, "cloud.conf", Context());
  };
  const auto still_works = [&] { return CodeOf(One(Get("/v1/{project_id}/x"))) == Code::kOk; };

  EXPECT_EQ(reload("[Global]\nnonsense\n").reason(), "BadCloudConfig");
  EXPECT_EQ(result("invalid"), 1);
  EXPECT_TRUE(still_works());

  EXPECT_EQ(reload(File("AKBAD000000000000001", "SkBad0123456789")).reason(), "CredentialsRefused");
  EXPECT_EQ(result("rejected"), 1);
  EXPECT_TRUE(still_works());

  const auto iam = iam_;
  iam_ = [](const http::Request&, const CallContext&) { return NotSent(); };
  EXPECT_EQ(reload(File("AKNEW000000000000001", "SkNew0123456789")).code(), Code::kUnavailable);
  EXPECT_EQ(result("unreachable"), 1);
  iam_ = iam;
  EXPECT_TRUE(still_works());
  EXPECT_EQ(result("success"), 0);

  AcceptOnly("AKNEW000000000000001");  // the old key is revoked
  ASSERT_TRUE(reload(File("AKNEW000000000000001", "SkNew0123456789")).ok());
  EXPECT_EQ(result("success"), 1);
  EXPECT_TRUE(still_works());
  EXPECT_TRUE(SignedBy(script_.Requests().back(), "AKNEW000000000000001"));

  // The same once more is nothing; other settings need no call.
  const int before = Sent();
  ASSERT_TRUE(reload(File("AKNEW000000000000001", "SkNew0123456789")).ok());
  EXPECT_EQ(result("success"), 1);
  ASSERT_TRUE(
      reload(File("AKNEW000000000000001", "SkNew0123456789", "[LoadBalancer]\nsubnet-id=abc\n"))
          .ok());
  EXPECT_EQ(result("success"), 2);
  EXPECT_EQ(transport().config().subnet_id, "abc");
  EXPECT_EQ(Sent(), before);
}

TEST_F(TransportCredentialsTest, ANewKeySeesNothingOfTheOldOnesCache) {
  Request request = Get("/v1/list");
  request.set_max_age_ms(3'600'000);
  One(request);
  const int before = SentToCloud();
  CloudConfig other = config_;
  other.credentials.access_key = "AKOTHER0000000000001";
  ASSERT_TRUE(transport().Reload(other, Context()).ok());
  One(request);
  EXPECT_EQ(SentToCloud(), before + 1);
}

TEST_F(TransportCredentialsTest, SEED_50_NoSecretInLogsMetricsOrAnswers) {
  config_.credentials.security_token = "TokenMarked0123456789";
  const std::vector<std::string> secrets = {kTestAk, kTestSk, "TokenMarked0123456789"};
  const std::string echo = std::string(R"({"error_code":"APIGW.0301","error_msg":"ak )") + kTestAk +
                           " sk " + kTestSk + " token TokenMarked0123456789\"}";
  std::string seen;
  const auto note = [&](const Response& response) { seen += response.message() + "\n"; };
  for (const int status : {401, 400, 403, 404, 500, 503, 429}) {
    transport_.reset();
    iam_ = cloud_ = [&](const http::Request&, const CallContext&) { return Reply(status, echo); };
    seen += transport().Probe(Context()).ToString() + "\n";
    note(One(Get("/v1/{project_id}/x")));
    note(One(Write("POST", "/v1/x", true)));
    seen += transport()
                .ReloadText(std::string("[Global]\nsecret-key ") + kTestSk, "f", Context())
                .ToString();
  }
  EXPECT_TRUE(SignedBy(script_.Requests().front(), kTestAk));
  EXPECT_EQ(HeaderOf(script_.Requests().front(), "X-Security-Token"), "TokenMarked0123456789");
  seen += Printed();
  EXPECT_NE(seen.find("[redacted]"), std::string::npos);
  for (const std::string& secret : secrets) {
    EXPECT_EQ(seen.find(secret), std::string::npos) << secret;
  }
}

}  // namespace
}  // namespace otc::host::cloud
