// ApiEventRecorder: EventRecorder that writes core/v1 Events to the API server.
//
// Record only queues (1,000 events, then dropped and counted). One thread sends:
// up to 12 tries 10 s apart while the server cannot be reached; an answer that
// refuses the event is not repeated. Uses the events lane of the client, so events
// never wait for anything else nor hold it up.
#ifndef OTC_HOST_KUBE_EVENTS_H_
#define OTC_HOST_KUBE_EVENTS_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "host/base/cancellation.h"
#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/random.h"
#include "host/kube/api.h"
#include "host/kube/event_correlator.h"
#include "host/kube/event_recorder.h"

namespace otc::host::kube {

class ApiEventRecorder final : public EventRecorder {
 public:
  // All references outlive the recorder. The thread starts at once.
  ApiEventRecorder(KubeApi& api, Clock& clock, Random& random, Log& log, Metrics& metrics);
  ~ApiEventRecorder() override;

  void Record(const std::string& component, const ObjectReference& about, EventType type,
              const std::string& reason, const std::string& message) override;

  // Sends what is queued, for at most `grace`, then ends the thread. Later events
  // are dropped.
  void Stop(Duration grace);

 private:
  enum class Sent { kDone, kRefused, kUnreachable };

  void Run();
  bool Take(Event* event);
  void Deliver(Event event);
  // One request; `outcome.event` gets the name under which it is stored.
  Sent Try(EventCorrelator::Outcome* outcome);
  Status Post(const Event& event);
  Status Count(const Event& event);
  std::string NameFor(const std::string& object_name, WallTime now) const;
  void Dropped(const char* reason);

  KubeApi& api_;
  Clock& clock_;
  Random& random_;
  Log& log_;
  Metrics& metrics_;
  EventCorrelator correlator_;  // of the thread
  const std::shared_ptr<Cancellation> cancellation_ = Cancellation::Create();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> queue_;
  bool stopping_ = false;
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_EVENTS_H_
