// ControllerSet: the controllers of one process, started and stopped in order.
//
// Owned by main. Start is called once, after this process has become leader;
// the informer must be started by then or soon after (controllers wait for its
// cache). Stop ends them in reverse order and returns when no thread of theirs
// runs; the lease may be released only after that. The node lister keeps a
// handler that does nothing any more once the set has stopped.
#ifndef OTC_HOST_CONTROLLERS_CONTROLLER_SET_H_
#define OTC_HOST_CONTROLLERS_CONTROLLER_SET_H_

#include <memory>
#include <string>
#include <vector>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/random.h"
#include "host/base/write_gate.h"
#include "host/controllers/controller_names.h"
#include "host/controllers/instances.h"
#include "host/controllers/options.h"
#include "host/kube/api.h"
#include "host/kube/event_recorder.h"
#include "host/kube/informer.h"

namespace otc::host {

class NodeController;
class NodeLifecycleController;

// What controllers work with; everything outlives them.
struct ControllerDeps {
  kube::NodeLister& nodes;
  kube::KubeApi& api;
  kube::EventRecorder& events;
  WriteGate& gate;
  InstancesProvider* instances = nullptr;  // null: no plugin offers the interface
  Clock& clock;
  Random& random;
  Log& log;
  Metrics& metrics;
};

struct ControllerSetOptions {
  ControllerSelection selection;
  NodeControllerOptions node;
  LifecycleOptions lifecycle;
};

class ControllerSet {
 public:
  ControllerSet(const ControllerDeps& deps, const ControllerSetOptions& options);
  ~ControllerSet();
  ControllerSet(const ControllerSet&) = delete;
  ControllerSet& operator=(const ControllerSet&) = delete;

  // INVALID_ARGUMENT with all wrong settings; nothing runs then. A controller
  // that is selected but has no plugin is skipped with a warning.
  Status Start();
  // Cancels what runs without waiting; for a hurried exit. Thread-safe.
  void Cancel();
  // Cancels and waits. Idempotent.
  void Stop();

  // Canonical names of the controllers that run: one health check each.
  const std::vector<std::string>& Running() const { return running_; }

 private:
  void SetRunningMetric(ControllerId id, bool running);

  const ControllerDeps deps_;
  const ControllerSetOptions options_;
  std::unique_ptr<NodeController> node_;
  std::unique_ptr<NodeLifecycleController> lifecycle_;
  std::vector<std::string> running_;
};

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_CONTROLLER_SET_H_
