// The metrics of the cloud transport: names, help texts and labels in one place.
//
// Thread-safe.
#ifndef OTC_HOST_CLOUD_TRANSPORT_METRICS_H_
#define OTC_HOST_CLOUD_TRANSPORT_METRICS_H_

#include <string>

#include "host/base/clock.h"
#include "host/base/metrics.h"
#include "host/cloud/response_cache.h"

namespace otc::host::cloud {

class TransportMetrics {
 public:
  explicit TransportMetrics(Metrics& metrics) : metrics_(metrics) {}

  // One request on the wire; `status` is the HTTP status or "none".
  void Request(const std::string& plugin, const std::string& service, const std::string& method,
               const std::string& purpose, const std::string& status, Duration duration);
  void Retry(const std::string& service, const std::string& reason);
  void Throttled(const std::string& service);
  void BudgetWait(const std::string& plugin, const std::string& service, Duration duration);
  void Cache(const std::string& service, ResponseCache::Source source);
  void Refused();
  void CredentialsStopped(bool stopped);
  void ClockCorrected(Duration offset);
  void LastHour(std::uint64_t calls, bool over_limit);
  void Reload(const std::string& result);

 private:
  Metrics& metrics_;
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_TRANSPORT_METRICS_H_
