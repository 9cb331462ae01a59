// Where a cloud service is reached: its base URL by service and region, or by
// the overrides of cloud.conf's [Endpoints].
//
// Immutable once made; copy it freely between threads. The catalog of IAM is not
// asked on purpose: it is one more throttled call and its entries have been wrong
// or missing, so hosts follow the region's pattern.
#ifndef OTC_HOST_CLOUD_ENDPOINTS_H_
#define OTC_HOST_CLOUD_ENDPOINTS_H_

#include <map>
#include <string>
#include <string_view>

#include "host/cloud/cloud_config.h"
#include "host/http/client.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::cloud {

struct Endpoint {
  http::BaseUrl base;
  bool is_signed = true;       // metadata is not
  bool project_scoped = true;  // X-Project-Id is sent; not to IAM and metadata
};

class Endpoints {
 public:
  // INVALID_ARGUMENT "BadUrl" for an override that is no base URL.
  static Result<Endpoints> ForCloud(const CloudConfig& config);
  // Role csi-node: no credentials, so the metadata service alone. `override_url`
  // empty: the link-local address.
  static Result<Endpoints> MetadataOnly(const std::string& override_url);

  // INVALID_ARGUMENT "BadService" for a name that cannot be one,
  // FAILED_PRECONDITION "NoCredentials" for all but metadata in role csi-node.
  Result<Endpoint> Find(std::string_view service) const;

 private:
  std::string region_;  // empty: metadata only
  std::map<std::string, http::BaseUrl, std::less<>> overrides_;
};

// "ecs.eu-de.otc.t-systems.com"; IAM and region eu-ch2 differ from the rest.
std::string DefaultHost(std::string_view service, std::string_view region);

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_ENDPOINTS_H_
