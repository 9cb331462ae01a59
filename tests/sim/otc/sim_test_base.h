// A running simulator, a signing client and shorthands for tests.
#ifndef OTC_TESTS_SIM_OTC_SIM_TEST_BASE_H_
#define OTC_TESTS_SIM_OTC_SIM_TEST_BASE_H_

#include <gtest/gtest.h>

#include <string>

#include "tests/sim/otc/simulator.h"
#include "tests/sim/otc/test_client.h"

namespace otc::sim {

class SimTest : public testing::Test {
 protected:
  explicit SimTest(Options options = {}) : sim_(std::move(options)) {}

  void SetUp() override {
    const Status status = sim_.Start();
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  // "/v1/<project>" and what follows, on the ECS host.
  std::string Ecs(const std::string& rest) const {
    return sim_.url("ecs") + "/v1/" + kProjectId + rest;
  }
  std::string Nova(const std::string& rest) const {
    return sim_.url("ecs") + "/v2.1/" + kProjectId + rest;
  }
  std::string Vpc(const std::string& rest) const {
    return sim_.url("vpc") + "/v1/" + kProjectId + rest;
  }
  std::string Iam(const std::string& rest) const { return sim_.url("iam") + rest; }

  std::string AddServer(const std::string& name) {
    Server server;
    server.name = name;
    const auto id = sim_.AddServer(std::move(server));
    EXPECT_TRUE(id.ok()) << id.status().ToString();
    return id.ok() ? *id : "";
  }
  // Names of a list's servers, joined by blanks.
  static std::string Names(const Answer& answer) {
    std::string names;
    for (std::size_t i = 0; i < answer.SizeOf("servers"); ++i) {
      const std::string quoted = answer.At("servers." + std::to_string(i) + ".name");
      names += (i == 0 ? "" : " ") + quoted.substr(1, quoted.size() - 2);
    }
    return names;
  }
  Answer Control(const std::string& method, const std::string& path, const std::string& body = "") {
    TestClient client;
    client.sign = false;
    client.project_id.clear();
    return client.Call(method, sim_.url("control") + "/_sim/" + path, body);
  }

  Simulator sim_;
  TestClient client_;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_SIM_TEST_BASE_H_
