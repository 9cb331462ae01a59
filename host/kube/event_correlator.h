// EventCorrelator: turns a flood of events into few, as client-go's does.
//
// In this order: ten or more different messages with the same source, object,
// type and reason within ten minutes become one combined event; an event that was
// sent before is counted up instead of sent again; per source, object and type 25
// are let through at once and one more every five minutes. Remembers the last
// 4,096 of each. For one thread.
#ifndef OTC_HOST_KUBE_EVENT_CORRELATOR_H_
#define OTC_HOST_KUBE_EVENT_CORRELATOR_H_

#include <memory>
#include <set>
#include <string>

#include "host/base/clock.h"
#include "host/kube/event_recorder.h"
#include "host/kube/lru_map.h"
#include "host/kube/token_bucket.h"

namespace otc::host::kube {

inline constexpr std::size_t kEventMessageBytes = 1024;

// At most `bytes` of `text`, cut between characters.
std::string CutUtf8(const std::string& text, std::size_t bytes);

struct Event {
  std::string namespace_;  // of the event itself
  std::string name;
  std::string component;
  ObjectReference about;
  EventType type = EventType::kNormal;
  std::string reason;
  std::string message;
  WallTime first{};
  WallTime last{};
  int count = 1;
};

class EventCorrelator {
 public:
  explicit EventCorrelator(Clock& clock);

  struct Outcome {
    bool skip = false;   // too many of this kind
    bool patch = false;  // count up the event with this name
    std::string key;     // for Sent
    Event event;
  };
  Outcome Correlate(Event event);
  // The server now has this event under its name.
  void Sent(const std::string& key, const Event& event);

 private:
  struct Similar {
    std::set<std::string> messages;
    MonoTime last{};
  };
  struct Known {
    std::string name;
    WallTime first{};
    int count = 0;
  };

  std::string Aggregate(Event* event);

  Clock& clock_;
  LruMap<Similar> similar_;
  LruMap<Known> known_;
  LruMap<std::unique_ptr<TokenBucket>> spam_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_EVENT_CORRELATOR_H_
