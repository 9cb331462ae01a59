#include "host/ops/health.h"

#include <gtest/gtest.h>

namespace otc::host::ops {
namespace {

Request Get(std::vector<std::pair<std::string, std::string>> query = {}) {
  Request request;
  request.method = "GET";
  request.query = std::move(query);
  return request;
}

TEST(Health, P04_OkVerboseAndExclude) {
  Health health;
  Status leader = Status::Ok();
  health.Add("leaderElection", Health::kHealthz, [&] { return leader; });
  health.Add("cloud-node-controller", Health::kHealthz, [] { return Status::Ok(); });
  EXPECT_EQ(health.Serve(Health::kHealthz, Get()).body, "ok");
  EXPECT_EQ(health.Serve(Health::kHealthz, Get({{"verbose", ""}})).body,
            "[+]leaderElection ok\n[+]cloud-node-controller ok\nhealthz check passed\n");

  leader = Status(Code::kUnavailable, "LeaseStale", "not renewed for 40s");
  const Response failed = health.Serve(Health::kHealthz, Get());
  EXPECT_EQ(failed.status, 500);
  EXPECT_NE(failed.body.find("[-]leaderElection failed: UNAVAILABLE LeaseStale: not renewed"),
            std::string::npos);
  EXPECT_EQ(health.Serve(Health::kHealthz, Get({{"exclude", "leaderElection"}})).status, 200);
}

TEST(Health, ChecksBelongToTheirEndpointsOnly) {
  Health health;
  health.Add("plugins", Health::kReadyz,
             [] { return Status(Code::kUnavailable, "PluginNotStarted", "node"); });
  EXPECT_EQ(health.Serve(Health::kReadyz, Get()).status, 500);
  EXPECT_EQ(health.Serve(Health::kLivez, Get()).status, 200);
  EXPECT_EQ(health.Serve(Health::kHealthz, Get()).body, "ok");
}

}  // namespace
}  // namespace otc::host::ops
