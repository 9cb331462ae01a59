// One request through the transport: where it goes, what is signed, what comes
// back, what is answered from the cache.
#include "host/cloud/transport.h"

#include "host/base/strings.h"
#include "host/cloud/testing/transport_fixture.h"

namespace otc::host::cloud {
namespace {

using plugin::v1::OUTCOME_ANSWERED;
using plugin::v1::OUTCOME_NOT_SENT;
using std::chrono::seconds;

class TransportTest : public TransportFixture {};

TEST_F(TransportTest, ARequestIsCompletedAndSigned) {
  Request request = Get("/v1/{project_id}/cloudservers/detail");
  auto* pair = request.add_query();
  pair->set_key("name");
  pair->set_value("a b+ü");
  (*request.mutable_headers())["X-OpenStack-Nova-API-Version"] = "2.60";
  cloud_ = [](const http::Request&, const CallContext&) {
    return Reply(200, R"({"servers":[]})",
                 {{"content-type", "application/json"},
                  {"x-request-id", "req-7"},
                  {"set-cookie", "s"},
                  {"x-subject-token", "t"}});
  };
  const Response response = One(request);
  EXPECT_EQ(response.outcome(), OUTCOME_ANSWERED);
  EXPECT_EQ(response.http_status(), 200u);
  EXPECT_EQ(response.code(), 0);
  EXPECT_EQ(response.body(), R"({"servers":[]})");
  EXPECT_EQ(response.request_id(), "req-7");
  EXPECT_EQ(response.attempts(), 1u);
  EXPECT_EQ(response.headers().size(), 2u);
  EXPECT_EQ(response.headers().at("content-type"), "application/json");

  const std::vector<http::Request> sent = script_.Requests();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].origin.ToString(), "https://iam.eu-de.otc.t-systems.com");
  EXPECT_EQ(sent[0].target, "/v3/projects?name=eu-de_prod");
  EXPECT_EQ(HeaderOf(sent[0], "X-Project-Id"), "");
  const http::Request& wire = sent[1];
  EXPECT_EQ(wire.origin.ToString(), "https://ecs.eu-de.otc.t-systems.com");
  EXPECT_EQ(wire.target,
            std::string("/v1/") + kTestProject + "/cloudservers/detail?name=a%20b%2B%C3%BC");
  EXPECT_EQ(wire.host_header, "ecs.eu-de.otc.t-systems.com");
  EXPECT_EQ(HeaderOf(wire, "X-OpenStack-Nova-API-Version"), "2.60");
  EXPECT_EQ(HeaderOf(wire, "X-Project-Id"), kTestProject);
  EXPECT_EQ(HeaderOf(wire, "X-Auth-Token"), "");
  EXPECT_EQ(wire.max_response_bytes, 4u << 20);

  // Signed again by the rules, from what is on the wire.
  const std::string date = HeaderOf(wire, "X-Sdk-Date");
  const CanonicalRequest canonical = Canonicalise(
      "GET", wire.target,
      {{"host", wire.host_header}, {"x-sdk-date", date}, {"x-project-id", kTestProject}}, "");
  const std::string scope = SigningScope(date, "", "");
  const std::string signature =
      Signature(SigningKey(SignForm::kCredential, kTestSk, date, "", ""),
                StringToSign(SignForm::kCredential, date, scope, canonical.text));
  EXPECT_EQ(HeaderOf(wire, "Authorization"),
            std::string("SDK-HMAC-SHA256 Credential=") + kTestAk + "/" + scope +
                ", SignedHeaders=host;x-project-id;x-sdk-date, Signature=" + signature);
}

TEST_F(TransportTest, TheProjectIsLookedUpOnceOrNotAtAll) {
  for (int i = 0; i < 10; ++i) One(Get("/v1/{project_id}/x"));
  for (int i = 0; i < 10; ++i) One(Get("/v2.0/ports", "vpc"));
  EXPECT_EQ(script_.Count("/v3/projects"), 1);
  EXPECT_EQ(SentToCloud(), 20);
  transport_.reset();
  config_.project_id = "fedcba9876543210fedcba9876543210";
  One(Get("/v1/{project_id}/x"));
  EXPECT_EQ(script_.Count("/v3/projects"), 1);
  EXPECT_EQ(script_.Requests().back().target, "/v1/fedcba9876543210fedcba9876543210/x");
}

TEST_F(TransportTest, AFailedProjectLookupIsNotRepeatedByEveryCaller) {
  iam_ = [](const http::Request&, const CallContext&) { return Reply(200, R"({"projects":[]})"); };
  for (int i = 0; i < 50; ++i) {
    const Response response = One(Get("/v1/{project_id}/x"));
    EXPECT_EQ(response.outcome(), OUTCOME_NOT_SENT);
    EXPECT_EQ(CodeOf(response), Code::kNotFound);
    EXPECT_NE(response.message().find("ProjectNotFound"), std::string::npos);
    EXPECT_FALSE(response.proves_absence());
  }
  EXPECT_EQ(Sent(), 1);
  clock_.Advance(seconds(31));
  iam_ = [](const http::Request&, const CallContext&) { return Reply(200, Projects()); };
  EXPECT_EQ(CodeOf(One(Get("/v1/{project_id}/x"))), Code::kOk);
}

TEST_F(TransportTest, AnIamRequestCarriesNoProject) {
  One(Get("/v3/regions", "iam"));
  EXPECT_EQ(Sent(), 1);
  EXPECT_EQ(HeaderOf(script_.Requests()[0], "X-Project-Id"), "");
}

TEST_F(TransportTest, WhatProvesAbsence) {
  const auto absent = [&](const std::string& body) {
    cloud_ = [&](const http::Request&, const CallContext&) { return Reply(404, body); };
    return One(Get("/v1/x"));
  };
  EXPECT_TRUE(absent(R"({"itemNotFound":{"message":"m","code":404}})").proves_absence());
  const Response gateway = absent(R"({"error_code":"APIGW.0101","error_msg":"no API"})");
  EXPECT_FALSE(gateway.proves_absence());
  EXPECT_EQ(CodeOf(gateway), Code::kUnimplemented);
  // P-J5: what was asked where.
  EXPECT_NE(gateway.message().find("https://ecs.eu-de.otc.t-systems.com/v1/x"), std::string::npos)
      << gateway.message();
  EXPECT_FALSE(absent("<html>not found</html>").proves_absence());
}

TEST_F(TransportTest, RequestIdsOfAllKinds) {
  cloud_ = [](const http::Request&, const CallContext&) {
    return Reply(400, R"({"error_code":"VPC.0001","error_msg":"m","request_id":"body-1"})");
  };
  EXPECT_EQ(One(Get("/v1/x")).request_id(), "body-1");
  cloud_ = [](const http::Request&, const CallContext&) {
    return Reply(400, "{}", {{"x-openstack-request-id", "os-1"}, {"x-compute-request-id", "c-1"}});
  };
  EXPECT_EQ(One(Get("/v1/x")).request_id(), "os-1");
  EXPECT_NE(Printed().find("c-1"), std::string::npos);  // every one is in the log
}

TEST_F(TransportTest, MetadataRoleServesMetadataAlone) {
  auto made = Transport::CreateForMetadata("", Deps());
  ASSERT_TRUE(made.ok());
  transport_ = *std::move(made);
  EXPECT_EQ(CodeOf(One(Get("/openstack/latest/meta_data.json", "metadata"))), Code::kOk);
  const http::Request wire = script_.Requests()[0];
  EXPECT_EQ(wire.origin.ToString(), "http://169.254.169.254");
  EXPECT_EQ(HeaderOf(wire, "Authorization"), "");
  EXPECT_EQ(HeaderOf(wire, "X-Sdk-Date"), "");
  EXPECT_EQ(HeaderOf(wire, "X-Project-Id"), "");

  plugin::v1::CloudBatch batch;
  *batch.add_requests() = Get("/v1/x");
  const Status status =
      transport_->Exchange({"evs-csi", false}, batch, Context(), [](const Response&) { FAIL(); });
  EXPECT_EQ(status.reason(), "NoCredentials");
  EXPECT_EQ(Sent(), 1);
}

TEST_F(TransportTest, ReadsWithinTheAllowedAgeAreOneCall) {
  One(Get("/v1/warm-up"));
  const int before = Sent();
  Request request = Get("/v1/list");
  request.set_max_age_ms(60'000);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(CodeOf(One(request)), Code::kOk);
  EXPECT_EQ(Sent() - before, 1);
  Request now = Get("/v1/list");
  One(now);  // without an age: never from the cache
  EXPECT_EQ(Sent() - before, 2);
  Request other = request;  // another query is another answer
  auto* pair = other.add_query();
  pair->set_key("a");
  pair->set_value("b");
  One(other);
  EXPECT_EQ(Sent() - before, 3);
  One(Write("POST", "/v1/create", false));  // a write drops what is kept of the service
  EXPECT_EQ(Sent() - before, 4);
  One(request);
  EXPECT_EQ(Sent() - before, 5);
  EXPECT_EQ(metrics_.Sum("otc_cloud_cache_total", {{"result", "hit"}}), 99);
}

TEST_F(TransportTest, P_E1_AnIdleTransportCallsNobody) {
  transport();
  clock_.Advance(std::chrono::hours(24));
  EXPECT_EQ(Sent(), 0);
}

TEST_F(TransportTest, P_E2_TooManyCallsAnHourAreSaidOnce) {
  config_.calls_per_hour_alarm = 10;
  for (int i = 0; i < 30; ++i) One(Get("/v1/x"));
  int warnings = 0;
  for (const std::string& line : log_.Lines()) {
    if (line.find("calls-per-hour-alarm") != std::string::npos) ++warnings;
  }
  EXPECT_EQ(warnings, 1);
  EXPECT_EQ(metrics_.Sum("otc_cloud_calls_alarm"), 1);
  EXPECT_EQ(metrics_.Sum("otc_cloud_calls_last_hour"), 31);
}

TEST_F(TransportTest, BadBatchesAreRefusedWhole) {
  const struct {
    const char* part;
    std::function<void(plugin::v1::CloudBatch&)> change;
  } rows[] = {
      {"max_parallel", [](auto& b) { b.set_max_parallel(9); }},
      {"request 1: service name", [](auto& b) { b.mutable_requests(1)->set_service("EC S"); }},
      {"request 1: method", [](auto& b) { b.mutable_requests(1)->set_method("TRACE"); }},
      {"PUT cannot have the effect READ",
       [](auto& b) { b.mutable_requests(1)->set_method("PUT"); }},
      {"must begin with '/'", [](auto& b) { b.mutable_requests(1)->set_path("v1/x"); }},
      {"percent-encoded", [](auto& b) { b.mutable_requests(1)->set_path("/v1/a b"); }},
      {"percent-encoded", [](auto& b) { b.mutable_requests(1)->set_path("/v1/x?y=1"); }},
      {"percent-encoded", [](auto& b) { b.mutable_requests(1)->set_path("/v1/{other}"); }},
      {"percent-encoded", [](auto& b) { b.mutable_requests(1)->set_path("/v1/x\r\nA: b"); }},
      {"two hexadecimal digits", [](auto& b) { b.mutable_requests(1)->set_path("/v1/%4"); }},
      {"segment of dots", [](auto& b) { b.mutable_requests(1)->set_path("/v1/../iam"); }},
      {"is set by the host",
       [](auto& b) { (*b.mutable_requests(1)->mutable_headers())["X-Project-ID"] = "x"; }},
      {"is set by the host",
       [](auto& b) { (*b.mutable_requests(1)->mutable_headers())["authorization"] = "x"; }},
      {"is no header name",
       [](auto& b) { (*b.mutable_requests(1)->mutable_headers())["a b"] = "x"; }},
      {"control characters",
       [](auto& b) { (*b.mutable_requests(1)->mutable_headers())["a"] = "x\r\ny: z"; }},
      {"a key is empty", [](auto& b) { b.mutable_requests(1)->add_query(); }},
      {"32 KiB",
       [](auto& b) {
         auto* pair = b.mutable_requests(1)->add_query();
         pair->set_key("k");
         pair->set_value(std::string(20'000, 'x'));
       }},
      {"12 MiB", [](auto& b) { b.mutable_requests(1)->set_body(std::string(13u << 20, 'x')); }},
      {"needs a body",
       [](auto& b) {
         b.mutable_requests(1)->set_method("POST");
         b.mutable_requests(1)->add_query()->set_key("k");
       }},
      {"for the effect READ only",
       [](auto& b) {
         b.mutable_requests(1)->set_effect(plugin::v1::EFFECT_UNSPECIFIED);
         b.mutable_requests(1)->set_max_age_ms(5);
       }},
      {"metadata is read only",
       [](auto& b) {
         b.mutable_requests(1)->set_service("metadata");
         b.mutable_requests(1)->set_effect(plugin::v1::EFFECT_WRITE);
       }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.part);
    plugin::v1::CloudBatch batch;
    *batch.add_requests() = Get("/v1/x");
    *batch.add_requests() = Get("/v1/y");
    row.change(batch);
    const Status status =
        transport().Exchange({"node", false}, batch, Context(), [](const Response&) { FAIL(); });
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find(row.part), std::string::npos) << status.message();
  }
  EXPECT_EQ(Sent(), 0);
}

TEST_F(TransportTest, OddAnswersHurtNobody) {
  for (const std::string& body :
       {std::string(), std::string("\xff\xfe"), std::string("null"), std::string("[]"),
        std::string(100'000, '{'), std::string("{\"error\":")}) {
    for (const int status : {100, 199, 202, 204, 302, 400, 404, 418, 499, 599, 999}) {
      cloud_ = [&](const http::Request&, const CallContext&) {
        return Reply(status, body, {{"x-request-id", "\xff"}, {"retry-after", "x"}});
      };
      const Response response = One(Get("/v1/x"));
      std::string bytes;
      EXPECT_TRUE(response.SerializeToString(&bytes));
      EXPECT_TRUE(IsValidUtf8(response.message()));
      EXPECT_TRUE(IsValidUtf8(response.request_id()));
      EXPECT_FALSE(response.proves_absence());
    }
  }
}

TEST_F(TransportTest, BadConfigurationIsRefusedAtCreation) {
  config_.endpoints["ecs"] = "nonsense";
  EXPECT_EQ(Transport::Create(config_, Deps()).status().reason(), "BadUrl");
  config_.endpoints.clear();
  config_.ca_file = "/etc/otc/ca.pem";
  client_error_ = Status(Code::kInvalidArgument, "BadTls", "/etc/otc/ca.pem: no certificate");
  const Status bad_ca = Transport::Create(config_, Deps()).status();
  EXPECT_EQ(bad_ca.reason(), "BadTls");
  EXPECT_NE(bad_ca.message().find("ca-file of cloud.conf"), std::string::npos);
  client_error_ = Status();
  EXPECT_TRUE(Transport::Create(config_, Deps()).ok());
  EXPECT_EQ(client_options_.tls.ca_file, "/etc/otc/ca.pem");
  EXPECT_EQ(client_options_.user_agent, "otc-host/test");
}

}  // namespace
}  // namespace otc::host::cloud
