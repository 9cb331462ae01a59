#include "host/cloud/endpoints.h"

#include <algorithm>

#include "host/base/strings.h"

namespace otc::host::cloud {
namespace {

constexpr std::string_view kMetadata = "metadata";
constexpr std::string_view kMetadataHost = "169.254.169.254";

bool IsServiceName(std::string_view name) {
  return !name.empty() && name.size() <= 32 && name.front() != '-' && name.back() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

}  // namespace

std::string DefaultHost(std::string_view service, std::string_view region) {
  // The Swiss cloud is a cloud of its own, with another domain and another IAM.
  const bool swiss = region == "eu-ch2";
  std::string host(swiss && service == "iam" ? "iam-pub" : service);
  return host.append(".").append(region).append(swiss ? ".sc" : "").append(".otc.t-systems.com");
}

Result<Endpoints> Endpoints::ForCloud(const CloudConfig& config) {
  Endpoints endpoints;
  endpoints.region_ = config.region;
  for (const auto& [service, url] : config.endpoints) {
    Result<http::BaseUrl> base = http::ParseBaseUrl(url);
    if (!base.ok()) return base.status().WithPrefix("[Endpoints] " + service + ": ");
    endpoints.overrides_.emplace(service, *std::move(base));
  }
  return endpoints;
}

Result<Endpoints> Endpoints::MetadataOnly(const std::string& override_url) {
  Endpoints endpoints;
  if (override_url.empty()) return endpoints;
  Result<http::BaseUrl> base = http::ParseBaseUrl(override_url);
  if (!base.ok()) return base.status().WithPrefix("metadata endpoint: ");
  endpoints.overrides_.emplace(kMetadata, *std::move(base));
  return endpoints;
}

Result<Endpoint> Endpoints::Find(std::string_view service) const {
  if (!IsServiceName(service)) {
    return Status(Code::kInvalidArgument, "BadService",
                  "service name " + JsonQuote(service) +
                      ": allowed are lower-case letters, digits and '-', at most 32");
  }
  Endpoint endpoint;
  const bool metadata = service == kMetadata;
  endpoint.is_signed = !metadata;
  endpoint.project_scoped = !metadata && service != "iam";
  if (!metadata && region_.empty()) {
    return Status(Code::kFailedPrecondition, "NoCredentials",
                  "service " + std::string(service) +
                      " needs cloud credentials, which this role has not; only metadata is served");
  }
  auto found = overrides_.find(service);
  // "all" is for the cloud's API; the metadata service is another machine.
  if (found == overrides_.end() && !metadata) found = overrides_.find("all");
  if (found != overrides_.end()) {
    endpoint.base = found->second;
  } else if (metadata) {
    endpoint.base.origin = {false, std::string(kMetadataHost), 80};
  } else {
    endpoint.base.origin = {true, DefaultHost(service, region_), 443};
  }
  return endpoint;
}

}  // namespace otc::host::cloud
