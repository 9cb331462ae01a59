// The rest_client_* metrics of client-go, for one API server. Thread-safe.
#ifndef OTC_HOST_KUBE_REQUEST_METRICS_H_
#define OTC_HOST_KUBE_REQUEST_METRICS_H_

#include <string>

#include "host/base/clock.h"
#include "host/base/metrics.h"

namespace otc::host::kube {

class RequestMetrics {
 public:
  // `host` as "name:port".
  RequestMetrics(Metrics& metrics, std::string host);

  // One attempt was answered with `code`, or not at all ("<error>").
  void Attempt(const std::string& method, const std::string& code, Duration took);
  void Sizes(const std::string& method, std::size_t request, std::size_t response);
  void Retry(const std::string& method, const std::string& code);
  void RateLimited(const std::string& method, Duration waited);

 private:
  Metrics& metrics_;
  const std::string host_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_REQUEST_METRICS_H_
