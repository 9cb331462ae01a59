// TransportFixture: a Transport on a scripted client, a clock that waits in no
// time, and everything it printed, for the tests of the transport.
#ifndef OTC_HOST_CLOUD_TESTING_TRANSPORT_FIXTURE_H_
#define OTC_HOST_CLOUD_TESTING_TRANSPORT_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "host/cloud/testing/fake_client.h"
#include "host/cloud/testing/stepping_clock.h"
#include "host/cloud/transport.h"

namespace otc::host::cloud {

inline constexpr char kTestAk[] = "AKMARKED000000000001";
inline constexpr char kTestSk[] = "SkMarkedSecret0123456789abcdefghijklmnop";
inline constexpr char kTestProject[] = "0123456789abcdef0123456789abcdef";

class FakeGate final : public WriteGate {
 public:
  Result<MonoTime> Admit() override {
    ++asked;
    if (open_for-- > 0) return until;
    return Status(Code::kFailedPrecondition, "LeaseLost", "no longer the leader");
  }
  int asked = 0;
  int open_for = 1'000'000;
  MonoTime until = MonoTime::max();
};

class TransportFixture : public testing::Test {
 protected:
  using Request = plugin::v1::CloudRequest;
  using Response = plugin::v1::CloudResponse;

  TransportFixture() {
    script_.handler = [this](const http::Request& request, const CallContext& context) {
      if (request.target.substr(0, 12) == "/v3/projects") return iam_(request, context);
      return cloud_(request, context);
    };
    config_.credentials = {kTestAk, kTestSk, ""};
    config_.region = "eu-de";
    config_.project_name = "eu-de_prod";
    // Budgets have tests of their own.
    config_.budgets = {{"default-read", {1000, 1000}}, {"default-write", {1000, 1000}}};
  }

  TransportDeps Deps() {
    return {clock_,
            random_,
            log_,
            metrics_,
            gate_,
            [this](http::ClientOptions options) -> Result<std::unique_ptr<http::Client>> {
              client_options_ = options;
              if (!client_error_.ok()) return client_error_;
              return std::unique_ptr<http::Client>(new FakeClient(script_));
            },
            "otc-host/test"};
  }

  Transport& transport() {
    if (!transport_) {
      auto made = Transport::Create(config_, Deps());
      EXPECT_TRUE(made.ok()) << made.status().ToString();
      transport_ = *std::move(made);
    }
    return *transport_;
  }

  CallContext Context(Duration timeout = std::chrono::minutes(10)) {
    CallContext context;
    context.clock = &clock_;
    context.deadline = clock_.Now() + timeout;
    context.request_id = "call-1";
    return context;
  }

  static Request Get(const std::string& path, const std::string& service = "ecs") {
    Request request;
    request.set_service(service);
    request.set_method("GET");
    request.set_path(path);
    request.set_effect(plugin::v1::EFFECT_READ);
    request.set_purpose("test");
    return request;
  }
  static Request Write(const std::string& method, const std::string& path, bool idempotent) {
    Request request;
    request.set_service("ecs");
    request.set_method(method);
    request.set_path(path);
    request.set_effect(plugin::v1::EFFECT_WRITE);
    request.set_idempotent(idempotent);
    if (method != "DELETE") request.set_body("{}");
    request.set_purpose("test");
    return request;
  }

  Response One(const Request& request) { return One(request, Context()); }
  Response One(const Request& request, const CallContext& context, bool leader_only = false) {
    plugin::v1::CloudBatch batch;
    *batch.add_requests() = request;
    Response response;
    int puts = 0;
    const Status status =
        transport().Exchange({"node", leader_only}, batch, context, [&](const Response& answer) {
          response = answer;
          ++puts;
        });
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(puts, 1);
    return response;
  }

  static Code CodeOf(const Response& response) { return static_cast<Code>(response.code()); }
  int Sent() { return static_cast<int>(script_.Requests().size()); }
  int SentToCloud() { return Sent() - script_.Count("/v3/projects"); }

  // All that an operator may see.
  std::string Printed() const {
    std::string all = metrics_.Render();
    for (const std::string& line : log_.Lines()) all += line + "\n";
    return all;
  }

  static std::string Projects(const std::string& id = kTestProject,
                              const std::string& name = "eu-de_prod") {
    return R"({"projects":[{"id":")" + id + R"(","name":")" + name +
           R"(","domain_id":"d1","enabled":true}],"links":{}})";
  }

  SteppingClock clock_;
  FixedRandom random_{0.5};
  MemoryLog log_;
  Metrics metrics_;
  FakeGate gate_;
  CloudConfig config_;
  FakeClient::Script script_;
  FakeClient::Handler iam_ = [](const http::Request&, const CallContext&) {
    return Reply(200, Projects());
  };
  FakeClient::Handler cloud_ = [](const http::Request&, const CallContext&) { return Reply(200); };
  http::ClientOptions client_options_;
  Status client_error_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_TESTING_TRANSPORT_FIXTURE_H_
