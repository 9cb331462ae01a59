// InstancesAdapter: the node plugin as the controllers see it.
//
// Encodes nodes, calls otc.instances-v2/1.describe, and lets through only what
// the rules of docs/reference/plugin-abi.md §8 allow: GONE without a proof that
// is newer than the request is read as UNKNOWN; a second result for a node, a
// result for a node that was not asked about or whose UID differs, and one that
// does not parse are dropped and counted. Results count even if the call fails.
//
// Thread-safe; Describe blocks its caller. Owned by the manager.
#ifndef OTC_HOST_PLUGIN_INSTANCES_ADAPTER_H_
#define OTC_HOST_PLUGIN_INSTANCES_ADAPTER_H_

#include <functional>
#include <string>
#include <vector>

#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/controllers/instances.h"
#include "host/plugin/config_document.h"
#include "host/plugin/managed_plugin.h"

namespace otc::host::plugin_host {

// Field `nodes` of a request, as bytes that may be concatenated with the rest
// (plugin-abi.md §1.6): a list is encoded once, one node at a time.
std::string EncodeNodes(const std::vector<kube::NodePtr>& nodes);

class InstancesAdapter final : public InstancesProvider {
 public:
  InstancesAdapter(ManagedPlugin& plugin, Clock& clock, Log& log, Metrics& metrics,
                   std::function<ClusterInfo()> cluster);

  Status Describe(const std::vector<kube::NodePtr>& nodes, const DescribeOptions& options,
                  const CallContext& context, const OnResult& on_result,
                  const OnEvent& on_event) override;

 private:
  void CountDropped(const char* why, const std::string& node);

  ManagedPlugin& plugin_;
  Clock& clock_;
  Log& log_;
  Metrics& metrics_;
  const std::function<ClusterInfo()> cluster_;
  const otc_instances_v2_1* const table_;
};

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_INSTANCES_ADAPTER_H_
