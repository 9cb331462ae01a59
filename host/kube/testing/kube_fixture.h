// KubeTest: a KubeClient over a scripted http::Client with a fake clock, for the
// tests of this folder.
#ifndef OTC_HOST_KUBE_TESTING_KUBE_FIXTURE_H_
#define OTC_HOST_KUBE_TESTING_KUBE_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "host/base/fake_clock.h"
#include "host/kube/client.h"
#include "host/kube/testing/fake_http_client.h"

namespace otc::host::kube {

class FakeGate final : public WriteGate {
 public:
  Result<MonoTime> Admit() override {
    ++asked;
    if (!open) return Status(Code::kFailedPrecondition, "LeaseLost", "not the leader");
    return until;
  }
  bool open = true;
  MonoTime until = MonoTime::max();
  int asked = 0;
};

class KubeTest : public ::testing::Test {
 protected:
  KubeTest() {
    context_.clock = &clock_;
    context_.cancellation = Cancellation::Create();
    options_.config.server = http::ParseBaseUrl("https://api.example:6443/k8s/x").value();
    options_.config.token = "secret-token";
    options_.make_http_client = FakeHttpClient::Factory(script_);
  }

  // Options may be changed until the first use of client().
  KubeClient& client() {
    if (!client_) {
      auto made = KubeClient::Create(options_, gate_, clock_, log_, metrics_);
      EXPECT_TRUE(made.ok()) << made.status().ToString();
      client_ = std::move(made).value();
    }
    return *client_;
  }

  static std::string Header(const http::Request& request, const std::string& name) {
    for (const auto& header : request.headers) {
      if (header.name == name) return header.value;
    }
    return "";
  }

  FakeClock clock_;
  CallContext context_;
  MemoryLog log_;
  Metrics metrics_;
  FakeGate gate_;
  std::shared_ptr<FakeHttpClient::Script> script_ = std::make_shared<FakeHttpClient::Script>();
  KubeClientOptions options_;
  std::unique_ptr<KubeClient> client_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_TESTING_KUBE_FIXTURE_H_
