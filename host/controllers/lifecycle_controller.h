// NodeLifecycleController: Nodes whose server is gone are deleted, those whose
// server is shut down are tainted.
//
// One thread, one pass after another, `monitor_period` from the end of one to
// the begin of the next. Only nodes that are not Ready cost a cloud call, and
// all of them together cost one; a Ready node is never asked about and never
// deleted. Every deletion passes the DeletionGuard, is checked against the
// server's newest state, and carries its UID and resourceVersion.
//
// Safe to die after any call: the next process starts with no proofs and
// gathers them anew. Owned by ControllerSet; the thread runs from Start to Stop.
#ifndef OTC_HOST_CONTROLLERS_LIFECYCLE_CONTROLLER_H_
#define OTC_HOST_CONTROLLERS_LIFECYCLE_CONTROLLER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "host/controllers/controller_set.h"
#include "host/controllers/deletion_guard.h"
#include "host/controllers/node_writer.h"

namespace otc::host {

class NodeLifecycleController {
 public:
  NodeLifecycleController(const ControllerDeps& deps, const LifecycleOptions& options);
  ~NodeLifecycleController();  // Stop
  NodeLifecycleController(const NodeLifecycleController&) = delete;
  NodeLifecycleController& operator=(const NodeLifecycleController&) = delete;

  void Start();
  void Cancel();
  void Stop();

  // One pass, on the calling thread; does nothing before the cache is complete.
  // For the thread and for tests.
  void RunPass(const CallContext& context);
  CallContext Context() const;

 private:
  // When a NotReady node is asked about next.
  struct Watch {
    MonoTime next{};
    Duration pause = Duration::zero();
  };

  void HandleReady(const kube::Node& node, const CallContext& context);
  std::vector<kube::NodePtr> DueNodes(const std::vector<kube::NodePtr>& nodes);
  void HandleAnswer(const kube::NodePtr& node, const plugin::v1::InstanceDescribeResult& result,
                    std::vector<kube::NodePtr>* absent, std::vector<kube::NodePtr>* shut_down);
  void AddShutdownTaint(const kube::Node& node, const CallContext& context);
  void HandleAbsent(const kube::Node& node, const CallContext& context);
  void Delete(const kube::Node& node, const CallContext& context);
  // Judges the guard's stop with all answers of this pass in; raises the alarm.
  void UpdateStop(const std::vector<kube::NodePtr>& nodes,
                  const std::vector<kube::NodePtr>& absent);
  // Asks again later and later while nothing happens.
  void Postpone(const std::string& uid);

  const ControllerDeps deps_;
  const LifecycleOptions options_;
  NodeWriter writer_;
  DeletionGuard guard_;
  std::map<std::string, Watch> watches_;  // by UID; NotReady nodes only
  Counter& deleted_;
  Counter& trips_;
  Gauge& stopped_;
  Gauge& absent_nodes_;
  MonoTime last_alarm_{};
  std::shared_ptr<Cancellation> cancellation_;
  std::thread thread_;
};

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_LIFECYCLE_CONTROLLER_H_
