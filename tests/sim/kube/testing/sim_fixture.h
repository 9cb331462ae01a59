// SimTest: a plain (no TLS) simulator and helpers, for the simulator's own tests.
#ifndef OTC_TESTS_SIM_KUBE_TESTING_SIM_FIXTURE_H_
#define OTC_TESTS_SIM_KUBE_TESTING_SIM_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>

#include "host/base/fake_clock.h"
#include "tests/sim/kube/server.h"
#include "tests/sim/kube/testing/sim_client.h"

namespace otc::kubesim {

inline constexpr char kNodes[] = "/api/v1/nodes";
inline constexpr char kLeases[] = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
inline constexpr char kEvents[] = "/api/v1/namespaces/default/events";

class SimTest : public ::testing::Test {
 protected:
  void SetUp() override { StartWith(Options()); }

  // Starts anew; TLS is off unless `keep_tls`.
  void StartWith(Options options, bool keep_tls = false) {
    options.tls = keep_tls && options.tls;
    options.clock = &clock_;
    server_ = std::make_unique<Server>(options);
    const Status started = server_->Start();
    ASSERT_TRUE(started.ok()) << started.ToString();
    port_ = server_->port();
  }

  // Each on a connection of its own.
  SimResponse Get(const std::string& target, const std::string& headers = "") {
    return SimClient(port_).Do("GET", target, "", headers);
  }
  SimResponse Post(const std::string& target, const Json& body) {
    return SimClient(port_).Post(target, body);
  }
  SimResponse Put(const std::string& target, const Json& body) {
    return SimClient(port_).Put(target, body);
  }
  SimResponse Patch(const std::string& target, const std::string& kind, const Json& patch) {
    return SimClient(port_).Patch(target, kind, patch);
  }
  SimResponse Delete(const std::string& target, const Json& options = Json()) {
    return SimClient(port_).Delete(target, options);
  }

  void AddNode(const std::string& name, const Json& more = Json::object()) {
    Json node = {{"metadata", {{"name", name}}}};
    node.merge_patch(more);
    const Status added = server_->AddNode(DumpJson(node));
    ASSERT_TRUE(added.ok()) << added.ToString();
  }
  void Fault(const std::string& json) {
    const auto id = server_->ArmFault(json);
    ASSERT_TRUE(id.ok()) << id.status().ToString();
  }
  std::string Version(const std::string& target) {
    return TextAt(Get(target).json(), {"metadata", "resourceVersion"});
  }

  host::FakeClock clock_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_TESTING_SIM_FIXTURE_H_
