// FakeEventRecorder: remembers events in the order of recording. Thread-safe.
#ifndef OTC_HOST_KUBE_TESTING_FAKE_EVENT_RECORDER_H_
#define OTC_HOST_KUBE_TESTING_FAKE_EVENT_RECORDER_H_

#include <mutex>
#include <string>
#include <vector>

#include "host/kube/event_recorder.h"

namespace otc::host::kube {

struct RecordedEvent {
  std::string component;
  ObjectReference about;
  EventType type = EventType::kNormal;
  std::string reason;
  std::string message;
};

class FakeEventRecorder final : public EventRecorder {
 public:
  void Record(const std::string& component, const ObjectReference& about, EventType type,
              const std::string& reason, const std::string& message) override {
    std::lock_guard lock(mutex_);
    events_.push_back({component, about, type, reason, message});
  }

  std::vector<RecordedEvent> Events() const {
    std::lock_guard lock(mutex_);
    return events_;
  }

  // How many events have this reason.
  int Count(const std::string& reason) const {
    std::lock_guard lock(mutex_);
    int count = 0;
    for (const RecordedEvent& event : events_) count += event.reason == reason ? 1 : 0;
    return count;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<RecordedEvent> events_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_TESTING_FAKE_EVENT_RECORDER_H_
