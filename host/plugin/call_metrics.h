// CallMetrics: counts and times the calls of one plugin's slots, and names every
// breach of the ABI in the log. Thread-safe.
#ifndef OTC_HOST_PLUGIN_CALL_METRICS_H_
#define OTC_HOST_PLUGIN_CALL_METRICS_H_

#include <string>

#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/plugin/call.h"

namespace otc::host::plugin_host {

class CallMetrics {
 public:
  CallMetrics(Metrics& metrics, Log& log, std::string plugin_id)
      : metrics_(metrics), log_(log), plugin_id_(std::move(plugin_id)) {}

  void Record(const std::string& slot, const CallOutcome& outcome, Duration took);

 private:
  Metrics& metrics_;
  Log& log_;
  const std::string plugin_id_;
};

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_CALL_METRICS_H_
