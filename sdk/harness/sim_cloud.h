// A cloud client for plugin tests that talks to a running otc-sim (or another
// endpoint without TLS that takes IAM tokens): real requests, real answers.
//
//   auto cloud = SimCloud::Connect(start_line);   // the line that otc-sim prints
//   ASSERT_TRUE(cloud.ok()) << cloud.status().ToString();
//   host.SetCloud(cloud->get());
//
// One connection a request, five seconds for each wait. No throttling, no retries,
// no TLS: that is the host's work; here every failure reaches the plugin as it is.
// Thread-safe after Connect.
#ifndef OTC_SDK_HARNESS_SIM_CLOUD_H_
#define OTC_SDK_HARNESS_SIM_CLOUD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "otc/cpp/status.h"
#include "sdk/harness/fakes.h"

namespace otc::harness {

struct SimAccount {
  std::string domain = "OTC00000000001000000001";
  std::string project = "eu-de";
  std::string user = "sim-user";
  std::string password = "sim-password";
};

class SimCloud : public CloudClient {
 public:
  // Reads the URLs of the start line and gets a token for the account's project.
  static otc::Result<std::unique_ptr<SimCloud>> Connect(std::string_view start_line,
                                                        const SimAccount& account = {});

  pb::CloudResponse Answer(const pb::CloudRequest& request) override;

  const std::string& project_id() const { return project_id_; }

 private:
  SimCloud() = default;
  Status GetToken(const SimAccount& account);

  std::map<std::string, std::string> urls_;  // by service
  std::string token_;
  std::string project_id_;
};

}  // namespace otc::harness

#endif  // OTC_SDK_HARNESS_SIM_CLOUD_H_
