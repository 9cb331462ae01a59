// cloud.conf: credentials, region, project and the per-cluster settings.
//
// The INI file of cloud-provider-otc and csi-driver-otc with optional additions
// (docs/reference/cloud-conf.md lists all keys). Parsing reports every mistake at
// once as "file:line: …" and never prints a secret, whole or garbled.
//
// Plain data, no threads. Owned by whoever loaded it; the transport keeps a copy.
#ifndef OTC_HOST_CLOUD_CLOUD_CONFIG_H_
#define OTC_HOST_CLOUD_CLOUD_CONFIG_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/log.h"
#include "host/cloud/signer.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::cloud {

// Calls a second in the long run and how many may come at once.
struct BudgetRate {
  double per_second = 0;
  double burst = 0;
  friend bool operator==(const BudgetRate&, const BudgetRate&) = default;
};

struct CloudConfig {
  // [Global]
  Credentials credentials;
  std::string domain_name;
  std::string region;        // given, or project_name up to the first '_'
  std::string project_name;  // given, or the region
  std::string project_id;    // empty: looked up by name
  std::string ca_file;       // empty: the system's authorities
  SignForm sign_form = SignForm::kCredential;

  // [LoadBalancer]
  std::string subnet_id;  // empty: no balancers
  std::string network_id;
  std::uint32_t bandwidth_mbit = 100;
  std::string cluster_name;  // empty: the flag's

  // [Endpoints]: base URL by service; "all" stands for every other one.
  std::map<std::string, std::string> endpoints;

  // [Budgets]: by "<service>-read", "<service>-write", "default-read" …
  std::map<std::string, BudgetRate> budgets;
  std::uint64_t calls_per_hour_alarm = 0;  // 0: off

  // The file as plugins see it: without [Global], names as documented.
  std::map<std::string, std::map<std::string, std::string>> sections;

  // Makes every log drop the keys, should one ever get there.
  void RegisterSecrets(SecretRedactor& redactor) const;

  friend bool operator==(const CloudConfig&, const CloudConfig&) = default;
};

// INVALID_ARGUMENT "BadCloudConfig"; the message has one line for each mistake.
// `file_name` is only for those lines.
Result<CloudConfig> ParseCloudConfig(std::string_view text, const std::string& file_name);

// As above from a file; NOT_FOUND "NoCloudConfig" if it cannot be read.
Result<CloudConfig> LoadCloudConfig(const std::string& path);

// Names that [Endpoints] and [Budgets] know, "metadata" included.
const std::vector<std::string>& KnownServices();

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_CLOUD_CONFIG_H_
