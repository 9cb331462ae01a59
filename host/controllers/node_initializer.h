// NodeInitializer: brings nodes to the state in which pods may run on them.
//
// Uninitialised nodes are described in one call to the plugin, then written one
// by one: a single PATCH with everything, then the addresses. Nodes that are
// initialised already only get their labels reconciled, without any cloud call.
// A write that meets a conflict is planned anew from the informer's cache, which
// the watch has to bring up to date first; other nodes go on meanwhile.
//
// Safe to die after any call: either the one PATCH that removes the taint is
// done, or the next run starts over; missing addresses come with the periodic
// sync. Thread-safe as long as no name is given to two calls at once (the work
// queue sees to that).
#ifndef OTC_HOST_CONTROLLERS_NODE_INITIALIZER_H_
#define OTC_HOST_CONTROLLERS_NODE_INITIALIZER_H_

#include <string>
#include <vector>

#include "host/controllers/controller_set.h"
#include "host/controllers/node_writer.h"
#include "host/controllers/problem_reporter.h"

namespace otc::host {

class NodeInitializer {
 public:
  NodeInitializer(const ControllerDeps& deps, const NodeControllerOptions& options);

  // Does what each of the nodes needs now; answers the names to try again.
  std::vector<std::string> Sync(const std::vector<std::string>& names, const CallContext& context);
  // Whether syncing this node asks the cloud, so that batching pays.
  bool NeedsCloud(const std::string& name) const;

 private:
  struct Pending {
    kube::NodePtr node;
    plugin::v1::InstanceMetadata metadata;
    std::string refused_version;  // the resourceVersion that met a conflict
  };
  enum class Outcome { kDone, kAgain, kConflict };

  Outcome ReconcileLabels(const kube::Node& node, const CallContext& context);
  // Sorts one answer; adds to `pending` if there is something to write.
  Outcome Judge(const kube::NodePtr& node, const plugin::v1::InstanceDescribeResult& result,
                std::vector<Pending>* pending);
  Outcome Write(Pending* pending, const CallContext& context);
  void WriteAddresses(const kube::Node& node, const plugin::v1::InstanceMetadata& metadata,
                      const CallContext& context);
  void WriteAll(std::vector<Pending> pending, const CallContext& context,
                std::vector<std::string>* again);
  void Fail(const kube::Node& node, const std::string& text);

  const ControllerDeps deps_;
  const NodeControllerOptions options_;
  NodeWriter writer_;
  ProblemReporter problems_;
  Histogram& taint_removal_delay_;
  Histogram& initial_sync_delay_;
};

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_NODE_INITIALIZER_H_
