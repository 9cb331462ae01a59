#include "host/cloud/transport_metrics.h"

namespace otc::host::cloud {
namespace {

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

const char* SourceName(ResponseCache::Source source) {
  switch (source) {
    case ResponseCache::Source::kStored:
      return "hit";
    case ResponseCache::Source::kJoined:
      return "joined";
    case ResponseCache::Source::kFetched:
      break;
  }
  return "miss";
}

}  // namespace

void TransportMetrics::Request(const std::string& plugin, const std::string& service,
                               const std::string& method, const std::string& purpose,
                               const std::string& status, Duration duration) {
  metrics_
      .GetCounter("otc_cloud_requests_total",
                  "Requests sent to the cloud, each attempt counted, by HTTP status",
                  {{"plugin", plugin},
                   {"service", service},
                   {"method", method},
                   {"purpose", purpose},
                   {"status", status}})
      .Add();
  metrics_
      .GetHistogram("otc_cloud_request_duration_seconds",
                    "Time from sending a request to the cloud to its answer",
                    ExponentialBuckets(0.01, 2, 13), {{"service", service}, {"method", method}})
      .Observe(Seconds(duration));
}

void TransportMetrics::Retry(const std::string& service, const std::string& reason) {
  metrics_
      .GetCounter("otc_cloud_retries_total", "Requests to the cloud that were sent again, by cause",
                  {{"service", service}, {"reason", reason}})
      .Add();
}

void TransportMetrics::Throttled(const std::string& service) {
  metrics_
      .GetCounter("otc_cloud_throttled_total", "Answers by which the cloud asked to slow down",
                  {{"service", service}})
      .Add();
}

void TransportMetrics::BudgetWait(const std::string& plugin, const std::string& service,
                                  Duration duration) {
  if (duration <= Duration::zero()) return;
  metrics_
      .GetCounter("otc_cloud_budget_wait_seconds_total",
                  "Time that requests waited for the budget of their service",
                  {{"plugin", plugin}, {"service", service}})
      .Add(Seconds(duration));
}

void TransportMetrics::Cache(const std::string& service, ResponseCache::Source source) {
  metrics_
      .GetCounter("otc_cloud_cache_total",
                  "Reads that allowed an age, by how they were answered (hit, joined, miss)",
                  {{"service", service}, {"result", SourceName(source)}})
      .Add();
}

void TransportMetrics::Refused() {
  metrics_
      .GetCounter("otc_cloud_unauthorized_total",
                  "Answers by which the cloud refused the signature or the key")
      .Add();
}

void TransportMetrics::CredentialsStopped(bool stopped) {
  metrics_
      .GetGauge("otc_cloud_credentials_stopped",
                "1 while nothing is sent because the cloud refused the credentials twice")
      .Set(stopped ? 1 : 0);
}

void TransportMetrics::ClockCorrected(Duration offset) {
  metrics_
      .GetCounter("otc_cloud_clock_corrections_total",
                  "How often the time of signatures was set by the cloud's clock")
      .Add();
  metrics_
      .GetGauge("otc_cloud_clock_offset_seconds",
                "What the cloud's clock is ahead of this machine's, as last corrected")
      .Set(Seconds(offset));
}

void TransportMetrics::LastHour(std::uint64_t calls, bool over_limit) {
  metrics_.GetGauge("otc_cloud_calls_last_hour", "Requests sent to the cloud within the last hour")
      .Set(static_cast<double>(calls));
  metrics_
      .GetGauge("otc_cloud_calls_alarm",
                "1 while the last hour holds more requests than calls-per-hour-alarm")
      .Set(over_limit ? 1 : 0);
}

void TransportMetrics::Reload(const std::string& result) {
  metrics_
      .GetCounter("otc_host_credentials_reload_total",
                  "Attempts to take over a changed cloud.conf, by result", {{"result", result}})
      .Add();
}

}  // namespace otc::host::cloud
