// The transport with the real HTTP client against otc-sim: a stranger checks the
// signatures, loses replies, throttles and keeps another clock.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "host/base/fake_clock.h"
#include "host/cloud/transport.h"
#include "host/http/testing/test_ca.h"
#include "tests/sim/otc/simulator.h"

namespace otc::host::cloud {
namespace {

using plugin::v1::CloudRequest;
using plugin::v1::CloudResponse;
using std::chrono::milliseconds;
using std::chrono::seconds;

class TransportSimTest : public testing::Test {
 protected:
  void StartSim(sim::Options options = {}) {
    sim_ = std::make_unique<sim::Simulator>(std::move(options));
    const Status status = sim_->Start();
    ASSERT_TRUE(status.ok()) << status.ToString();
    config_.credentials = {sim::kAccessKey, sim::kSecretKey, ""};
    config_.region = config_.project_name = "eu-de";
    for (const char* service : {"iam", "ecs", "vpc", "evs"}) {
      config_.endpoints[service] = sim_->url(service);
    }
    config_.budgets = {{"default-read", {1000, 1000}}, {"default-write", {1000, 1000}}};
  }

  Transport& transport() {
    if (!transport_) {
      auto made = Transport::Create(config_, {clock_, random_, log_, metrics_, gate_,
                                              [this](http::ClientOptions options) {
                                                return http::MakeClient(options, clock_);
                                              },
                                              "otc-host/test"});
      EXPECT_TRUE(made.ok()) << made.status().ToString();
      transport_ = *std::move(made);
    }
    return *transport_;
  }

  CallContext Context(Duration timeout = seconds(30)) {
    CallContext context;
    context.clock = &clock_;
    context.deadline = clock_.Now() + timeout;
    return context;
  }

  static CloudRequest Get(const std::string& path, const std::string& service = "ecs") {
    CloudRequest request;
    request.set_service(service);
    request.set_method("GET");
    request.set_path(path);
    request.set_effect(plugin::v1::EFFECT_READ);
    return request;
  }

  CloudResponse One(const CloudRequest& request) { return One(request, Context()); }
  CloudResponse One(const CloudRequest& request, const CallContext& context) {
    plugin::v1::CloudBatch batch;
    *batch.add_requests() = request;
    CloudResponse answer;
    const Status status = transport().Exchange(
        {"node", false}, batch, context, [&](const CloudResponse& response) { answer = response; });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return answer;
  }

  std::int64_t Calls(const std::string& operation) { return sim_->log().Count(operation); }

  SystemClock clock_;
  FixedRandom random_{0.0};  // no pauses between attempts
  MemoryLog log_;
  Metrics metrics_;
  OpenWriteGate gate_;
  CloudConfig config_;
  std::unique_ptr<sim::Simulator> sim_;
  std::unique_ptr<Transport> transport_;
};

constexpr char kNobody[] = "/v1/{project_id}/cloudservers/11111111-2222-3333-4444-555555555555";

TEST_F(TransportSimTest, ListsServersInBothSignatureForms) {
  StartSim();
  sim::Server server;
  server.name = "node ä";
  ASSERT_TRUE(sim_->AddServer(server).ok());
  for (const SignForm form : {SignForm::kCredential, SignForm::kAccess}) {
    config_.sign_form = form;
    transport_.reset();
    CloudRequest request = Get("/v1/{project_id}/cloudservers/detail");
    for (const auto& [key, value] : {std::pair<const char*, const char*>{"offset", "1"},
                                     {"limit", "100"},
                                     {"name", "node ä"},
                                     {"not-tags", "__type_baremetal"}}) {
      auto* pair = request.add_query();
      pair->set_key(key);
      pair->set_value(value);
    }
    const CloudResponse response = One(request);
    EXPECT_EQ(response.http_status(), 200u) << response.message();
    EXPECT_NE(response.body().find("node ä"), std::string::npos);
    EXPECT_FALSE(response.request_id().empty());
  }
}

TEST_F(TransportSimTest, AMissingServerIsProvenByTheServiceOnly) {
  StartSim();
  const CloudResponse gone = One(Get(kNobody));
  EXPECT_EQ(gone.http_status(), 404u);
  EXPECT_TRUE(gone.proves_absence()) << gone.service_code();
  const CloudResponse unknown = One(Get("/v9/{project_id}/nothing"));
  EXPECT_EQ(unknown.http_status(), 404u);
  EXPECT_FALSE(unknown.proves_absence()) << unknown.service_code();
}

TEST_F(TransportSimTest, AWrongSecretStopsBeforeTheKeyIsLocked) {
  StartSim();
  config_.credentials.secret_key = "SkWrong0123456789";
  const Status probe = transport().Probe(Context());
  EXPECT_EQ(probe.reason(), "CredentialsRefused");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(static_cast<Code>(One(Get(kNobody)).code()), Code::kUnauthenticated);
  }
  EXPECT_FALSE(sim_->identity().IsLocked(sim::kAccessKey));
  CloudConfig right = config_;
  right.credentials.secret_key = std::string(sim::kSecretKey) + "\n";  // a file's last line
  ASSERT_TRUE(transport().Reload(right, Context()).ok());
  EXPECT_EQ(One(Get(kNobody)).http_status(), 404u);
}

TEST_F(TransportSimTest, AWrongProjectIsNamed) {
  StartSim();
  config_.project_name = "eu-de_nowhere";
  const Status probe = transport().Probe(Context());
  EXPECT_EQ(probe.reason(), "ProjectNotFound");
  EXPECT_NE(probe.message().find("eu-de_nowhere"), std::string::npos);
}

TEST_F(TransportSimTest, AClockAnHourOffIsCorrected) {
  FakeClock cloud_clock(clock_.Wall() + std::chrono::hours(1));
  sim::Options options;
  options.clock = &cloud_clock;
  StartSim(options);
  EXPECT_TRUE(transport().Probe(Context()).ok());
  EXPECT_EQ(One(Get(kNobody)).http_status(), 404u);
  EXPECT_EQ(metrics_.Sum("otc_cloud_clock_corrections_total"), 1);
  EXPECT_NEAR(metrics_.Sum("otc_cloud_clock_offset_seconds"), 3600, 5);
}

TEST_F(TransportSimTest, AnUnreachableEndpointIsNamed) {
  StartSim();
  config_.endpoints["iam"] = "http://127.0.0.1:1";
  const Status probe = transport().Probe(Context());
  EXPECT_EQ(probe.code(), Code::kUnavailable);
  EXPECT_EQ(probe.reason(), "CloudUnreachable");
  EXPECT_NE(probe.message().find("http://127.0.0.1:1"), std::string::npos) << probe.message();
}

TEST_F(TransportSimTest, TlsWithTheRightAndTheWrongAuthority) {
  char name[] = "/tmp/transport_sim_XXXXXX";
  const std::string directory = mkdtemp(name);
  const http::testing::TestCa right("right CA"), wrong("wrong CA");
  const http::testing::Identity identity = right.Issue();
  std::ofstream(directory + "/cert.pem") << identity.cert_pem;
  std::ofstream(directory + "/key.pem") << identity.key_pem;
  std::ofstream(directory + "/right.pem") << right.cert_pem();
  std::ofstream(directory + "/wrong.pem") << wrong.cert_pem();
  sim::Options options;
  options.certificate_file = directory + "/cert.pem";
  options.key_file = directory + "/key.pem";
  StartSim(options);
  config_.ca_file = directory + "/right.pem";
  EXPECT_EQ(transport().Probe(Context()).ToString(), "OK");
  transport_.reset();
  config_.ca_file = directory + "/wrong.pem";
  const Status refused = transport().Probe(Context());
  EXPECT_EQ(refused.reason(), "CloudUnreachable");
  EXPECT_NE(refused.message().find("ca-file"), std::string::npos);
  EXPECT_NE(refused.message().find("TlsFailed"), std::string::npos) << refused.message();
  std::filesystem::remove_all(directory);
}

TEST_F(TransportSimTest, FaultsByTheTable) {
  StartSim();
  One(Get(kNobody));
  const struct {
    const char* fault;
    std::uint32_t attempts, status;
  } rows[] = {
      {R"({"service":"ecs","kind":"drop_before"})", 2, 404},
      {R"({"service":"ecs","kind":"drop_after"})", 2, 404},
      {R"({"service":"ecs","kind":"truncate"})", 2, 404},
      {R"({"service":"ecs","kind":"garbage_wire"})", 2, 404},
      {R"({"service":"ecs","kind":"status","status":503})", 2, 404},
      {R"({"service":"ecs","kind":"status","status":500,"count":2})", 3, 404},
      {R"({"service":"ecs","kind":"status","status":403})", 1, 403},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.fault);
    const auto id = sim_->AddFault(row.fault);
    ASSERT_TRUE(id.ok()) << id.status().ToString();
    const CloudResponse response = One(Get(kNobody));
    EXPECT_EQ(response.attempts(), row.attempts) << response.message();
    EXPECT_EQ(response.http_status(), row.status);
    sim_->faults().Clear();
  }
}

TEST_F(TransportSimTest, CancellationEndsACallWithinASecond) {
  StartSim();
  One(Get(kNobody));
  ASSERT_TRUE(sim_->AddFault(R"({"id":"hang","service":"ecs","kind":"timeout"})").ok());
  CallContext context = Context();
  context.cancellation = Cancellation::Create();
  MonoTime cancelled{};
  std::thread canceller([&] {
    EXPECT_TRUE(sim_->faults().WaitFired("hang", 1, 5000));
    cancelled = clock_.Now();
    context.cancellation->Cancel("Quiescing");
  });
  const CloudResponse response = One(Get(kNobody), context);
  const MonoTime back = clock_.Now();
  canceller.join();
  EXPECT_EQ(static_cast<Code>(response.code()), Code::kCancelled);
  EXPECT_EQ(response.attempts(), 1u);
  EXPECT_LT(back - cancelled, seconds(1));
}

TEST_F(TransportSimTest, ABatchInParallelOverFewConnections) {
  StartSim();
  One(Get(kNobody));
  plugin::v1::CloudBatch batch;
  for (int i = 0; i < 200; ++i) *batch.add_requests() = Get(kNobody);
  batch.set_max_parallel(8);
  int absent = 0;
  const Status status =
      transport().Exchange({"node", false}, batch, Context(), [&](const CloudResponse& response) {
        if (response.proves_absence()) ++absent;
      });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(absent, 200);
  EXPECT_EQ(Calls("iam.projects.list"), 1);
}

TEST_F(TransportSimTest, MetadataWithoutCredentials) {
  StartSim();
  sim::Server server;
  server.name = "me";
  ASSERT_TRUE(sim_->AddServer(server).ok());
  auto made = Transport::CreateForMetadata(
      sim_->url("metadata"),
      {clock_, random_, log_, metrics_, gate_,
       [this](http::ClientOptions options) { return http::MakeClient(options, clock_); },
       "otc-host/test"});
  ASSERT_TRUE(made.ok());
  transport_ = *std::move(made);
  const CloudResponse response = One(Get("/openstack/latest/meta_data.json", "metadata"));
  EXPECT_EQ(response.http_status(), 200u) << response.message();
  EXPECT_NE(response.body().find("\"me\""), std::string::npos) << response.body();
}

}  // namespace
}  // namespace otc::host::cloud
