#include "host/kube/request_metrics.h"

#include <utility>
#include <vector>

namespace otc::host::kube {
namespace {

const std::vector<double>& SecondBuckets() {
  static const std::vector<double> buckets = {0.005, 0.025, 0.1, 0.25, 0.5,  1.0,
                                              2.0,   4.0,   8.0, 15.0, 30.0, 60.0};
  return buckets;
}

const std::vector<double>& ByteBuckets() {
  static const std::vector<double> buckets = {64,    256,    512,     1024,    4096,    16384,
                                              65536, 262144, 1048576, 4194304, 16777216};
  return buckets;
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

RequestMetrics::RequestMetrics(Metrics& metrics, std::string host)
    : metrics_(metrics), host_(std::move(host)) {}

void RequestMetrics::Attempt(const std::string& method, const std::string& code, Duration took) {
  metrics_
      .GetCounter("rest_client_requests_total",
                  "Requests to the API server by status code, method and host.",
                  {{"code", code}, {"method", method}, {"host", host_}})
      .Add();
  metrics_
      .GetHistogram("rest_client_request_duration_seconds",
                    "How long requests to the API server took.", SecondBuckets(),
                    {{"verb", method}, {"host", host_}})
      .Observe(Seconds(took));
}

void RequestMetrics::Sizes(const std::string& method, std::size_t request, std::size_t response) {
  const Labels labels = {{"verb", method}, {"host", host_}};
  metrics_
      .GetHistogram("rest_client_request_size_bytes", "Bytes of request bodies.", ByteBuckets(),
                    labels)
      .Observe(static_cast<double>(request));
  metrics_
      .GetHistogram("rest_client_response_size_bytes", "Bytes of response bodies.", ByteBuckets(),
                    labels)
      .Observe(static_cast<double>(response));
}

void RequestMetrics::Retry(const std::string& method, const std::string& code) {
  metrics_
      .GetCounter("rest_client_request_retries_total", "Requests that were sent again.",
                  {{"code", code}, {"verb", method}, {"host", host_}})
      .Add();
}

void RequestMetrics::RateLimited(const std::string& method, Duration waited) {
  metrics_
      .GetHistogram("rest_client_rate_limiter_duration_seconds",
                    "How long requests waited for the client's own rate limit.", SecondBuckets(),
                    {{"verb", method}, {"host", host_}})
      .Observe(Seconds(waited));
}

}  // namespace otc::host::kube
