// EventRecorder: Kubernetes events for operators who run `kubectl describe`.
//
// Never blocks and never fails a reconcile: events are queued (1,000, then
// dropped and counted), aggregated and rate-limited as client-go's correlator
// does, and sent by a thread of their own. The real one is events.h.
#ifndef OTC_HOST_KUBE_EVENT_RECORDER_H_
#define OTC_HOST_KUBE_EVENT_RECORDER_H_

#include <string>

#include "host/kube/types.h"

namespace otc::host::kube {

enum class EventType { kNormal, kWarning };

class EventRecorder {
 public:
  virtual ~EventRecorder() = default;
  // `component` is the source ("cloud-node-controller"); message is cut to 1 KiB.
  virtual void Record(const std::string& component, const ObjectReference& about, EventType type,
                      const std::string& reason, const std::string& message) = 0;
};

inline ObjectReference ReferenceTo(const Node& node) {
  return {"v1", "Node", "", node.meta.name, node.meta.uid, node.meta.resource_version};
}

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_EVENT_RECORDER_H_
