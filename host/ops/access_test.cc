#include "host/ops/access.h"

#include <gtest/gtest.h>

#include "host/base/fake_clock.h"

namespace otc::host::ops {
namespace {

// Answers reviews: token "good" is user prom, who may get /metrics.
class ReviewApi final : public kube::KubeApi {
 public:
  Result<kube::Node> GetNode(const std::string&, const std::string&, const CallContext&) override {
    return NotUsed();
  }
  Result<kube::Node> PatchNode(const std::string&, kube::PatchType, const std::string&,
                               const std::string&, const CallContext&) override {
    return NotUsed();
  }
  Status DeleteNode(const std::string&, const kube::DeletePreconditions&,
                    const CallContext&) override {
    return NotUsed();
  }
  Result<kube::Lease> GetLease(const std::string&, const std::string&,
                               const CallContext&) override {
    return NotUsed();
  }
  Result<kube::Lease> CreateLease(const kube::Lease&, const CallContext&) override {
    return NotUsed();
  }
  Result<kube::Lease> UpdateLease(const kube::Lease&, const CallContext&) override {
    return NotUsed();
  }
  Result<kube::RawResponse> Call(const kube::RawRequest& request, const CallContext&) override {
    requests.push_back(request);
    if (fail) return Status(Code::kUnavailable, "ServerDown", "down");
    kube::RawResponse response;
    response.http_status = 201;
    if (!body.empty()) {
      response.body = body;
    } else if (request.path.find("tokenreviews") != std::string::npos) {
      response.body = request.body.find("\"good\"") != std::string::npos
                          ? R"({"status":{"authenticated":true,"user":{"username":"prom",)"
                            R"("uid":"u1","groups":["system:authenticated"]}}})"
                          : R"({"status":{"error":"invalid"}})";
    } else {
      response.body = request.body.find("\"user\":\"prom\"") != std::string::npos
                          ? R"({"status":{"allowed":true}})"
                          : R"({"status":{"allowed":false}})";
    }
    return response;
  }

  std::vector<kube::RawRequest> requests;
  bool fail = false;
  std::string body;

 private:
  static Status NotUsed() { return Status(Code::kUnimplemented, "NotUsed", ""); }
};

Request Get(const std::string& path, const std::string& token = "") {
  Request request;
  request.method = "GET";
  request.path = path;
  request.bearer_token = token;
  return request;
}

class AccessTest : public testing::Test {
 protected:
  FakeClock clock_;
  MemoryLog log_;
  ReviewApi api_;
  AccessReviewer reviewer_{{{"/healthz", "/open/*"}, {}, {}, {}}, &api_, &api_, clock_, log_};
};

TEST_F(AccessTest, P04_AlwaysAllowedPathsAskNobody) {
  EXPECT_EQ(reviewer_.Judge(Get("/healthz")).status, 200);
  EXPECT_EQ(reviewer_.Judge(Get("/open/a/b")).status, 200);
  EXPECT_TRUE(api_.requests.empty());
  EXPECT_EQ(reviewer_.Judge(Get("/healthz/")).status, 403);
}

TEST_F(AccessTest, P05_AnonymousIs403BadTokenIs401GoodTokenIs200) {
  const Response anonymous = reviewer_.Judge(Get("/metrics"));
  EXPECT_EQ(anonymous.status, 403);
  EXPECT_NE(anonymous.body.find("system:anonymous"), std::string::npos);
  EXPECT_EQ(reviewer_.Judge(Get("/metrics", "bad")).status, 401);
  EXPECT_EQ(reviewer_.Judge(Get("/healthz", "bad")).status, 401);
  EXPECT_EQ(reviewer_.Judge(Get("/metrics", "good")).status, 200);
  Request malformed = Get("/healthz");
  malformed.malformed_authorization = true;
  EXPECT_EQ(reviewer_.Judge(malformed).status, 401);
}

TEST(AccessCache, P05_ReviewsAreRememberedForTenSeconds) {
  FakeClock clock;
  MemoryLog log;
  ReviewApi api;
  AccessReviewer reviewer(
      {{}, std::chrono::seconds(10), std::chrono::seconds(10), std::chrono::seconds(10)}, &api,
      &api, clock, log);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(reviewer.Judge(Get("/metrics", "good")).status, 200);
  EXPECT_EQ(api.requests.size(), 2u);
  clock.Advance(std::chrono::seconds(10));
  EXPECT_EQ(reviewer.Judge(Get("/metrics", "good")).status, 200);
  EXPECT_EQ(api.requests.size(), 4u);
}

TEST_F(AccessTest, AReviewThatCannotBeMadeDenies) {
  api_.fail = true;
  EXPECT_EQ(reviewer_.Judge(Get("/metrics")).status, 403);
  EXPECT_EQ(reviewer_.Judge(Get("/metrics", "good")).status, 401);
  api_.fail = false;
  api_.body = "<html>";
  EXPECT_EQ(reviewer_.Judge(Get("/configz")).status, 403);
}

TEST_F(AccessTest, TokensAreQuotedAndNeverLogged) {
  api_.body = "not json";
  EXPECT_EQ(reviewer_.Judge(Get("/metrics", "tok\"en-secret")).status, 401);
  EXPECT_NE(api_.requests.back().body.find(R"("token":"tok\"en-secret")"), std::string::npos);
  for (const std::string& line : log_.Lines()) {
    EXPECT_EQ(line.find("en-secret"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace otc::host::ops
