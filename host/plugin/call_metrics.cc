#include "host/plugin/call_metrics.h"

namespace otc::host::plugin_host {

void CallMetrics::Record(const std::string& slot, const CallOutcome& outcome, Duration took) {
  const std::string& bug = outcome.plugin_bug;
  metrics_
      .GetCounter(
          "otc_plugin_calls_total", "Calls of a plugin's slots by the code they ended with.",
          {{"plugin", plugin_id_}, {"slot", slot}, {"code", CodeName(outcome.status.code())}})
      .Add();
  metrics_
      .GetHistogram("otc_plugin_call_seconds", "Duration of a plugin's slots.",
                    ExponentialBuckets(0.005, 4, 8), {{"plugin", plugin_id_}, {"slot", slot}})
      .Observe(std::chrono::duration<double>(took).count());
  if (bug.empty()) return;
  metrics_
      .GetCounter("otc_plugin_bugs_total", "Breaches of the plugin ABI that the host noticed.",
                  {{"plugin", plugin_id_}, {"reason", bug}})
      .Add();
  log_.Warn("plugin broke the ABI",
            {{"plugin", plugin_id_}, {"slot", slot}, {"bug", bug}, {"status", outcome.status}});
}

}  // namespace otc::host::plugin_host
