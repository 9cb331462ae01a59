// PluginMetrics: otc.host.metrics/1 for one plugin.
//
// Names get the prefix otc_plugin_<id>_ and are registered once in the process
// (MetricNames), so that two plugins, or a plugin and the host, never meet under
// one name. Above 200 label sets a metric drops what is new and counts it.
//
// Thread-safe. Failure: a code of the ABI; nothing a plugin passes can abort.
#ifndef OTC_HOST_PLUGIN_PLUGIN_METRICS_H_
#define OTC_HOST_PLUGIN_PLUGIN_METRICS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/metrics.h"
#include "otc/plugin.h"

namespace otc::host::plugin_host {

// Which plugin owns which full metric name; one for all plugins of a manager.
class MetricNames {
 public:
  // False: taken by another plugin or by the host.
  bool Claim(const std::string& name, const std::string& plugin_id);

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> owners_;
};

class PluginMetrics {
 public:
  static constexpr std::size_t kMaxDefinitions = 256;

  PluginMetrics(Metrics& metrics, MetricNames& names, std::string plugin_id);
  ~PluginMetrics();

  // `definition` is a MetricDefinition. OK, INVALID_ARGUMENT, ALREADY_EXISTS, or
  // RESOURCE_EXHAUSTED above 256 definitions.
  std::int32_t Define(otc_bytes definition, std::uint64_t* handle);
  void Record(std::uint64_t handle, double value, const otc_str* label_values,
              std::uint64_t label_count);

 private:
  struct Definition;

  Metrics& metrics_;
  MetricNames& names_;
  const std::string plugin_id_;
  const std::string prefix_;
  Counter& dropped_;
  std::mutex mutex_;                                      // guards definitions_
  std::vector<std::unique_ptr<Definition>> definitions_;  // handle - 1 is the index
};

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_PLUGIN_METRICS_H_
