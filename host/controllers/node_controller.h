// NodeController: initialises new nodes and keeps all others up to date.
//
// A work queue ("Nodes") with `concurrent_syncs` workers feeds NodeInitializer;
// one more thread runs NodeSync every `status_update_period`, first when the
// cache is complete. Nodes that need nothing are not queued, so heartbeats cost
// nothing. Owned by ControllerSet; threads run from Start to Stop.
#ifndef OTC_HOST_CONTROLLERS_NODE_CONTROLLER_H_
#define OTC_HOST_CONTROLLERS_NODE_CONTROLLER_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "host/controllers/controller_set.h"
#include "host/controllers/node_initializer.h"
#include "host/controllers/node_sync.h"
#include "host/kube/work_queue.h"

namespace otc::host {

class NodeController {
 public:
  NodeController(const ControllerDeps& deps, const NodeControllerOptions& options);
  ~NodeController();  // Stop
  NodeController(const NodeController&) = delete;
  NodeController& operator=(const NodeController&) = delete;

  void Start();
  void Cancel();
  void Stop();

 private:
  CallContext Context() const;
  void Work();
  void SyncPeriodically();
  // The first key and, if it asks the cloud, what else arrives within the window.
  std::vector<std::string> NextBatch(const CallContext& context);

  const ControllerDeps deps_;
  const NodeControllerOptions options_;
  std::shared_ptr<Cancellation> cancellation_;
  // Shared with the informer's handler, which cannot be taken back.
  std::shared_ptr<kube::WorkQueue> queue_;
  NodeInitializer initializer_;
  NodeSync sync_;
  std::vector<std::thread> threads_;
};

// Waits until the cache is complete; what ended the wait otherwise.
Status WaitForCache(const kube::NodeLister& nodes, const CallContext& context);

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_NODE_CONTROLLER_H_
