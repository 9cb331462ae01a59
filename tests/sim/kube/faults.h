// Faults: scripted misbehaviour, request by request.
//
// A fault names which requests it hits (verb, target by regular expression, user
// agent; skip the first n; at most so many times) and what happens to them. The
// first fault in order of arming that matches wins; a request meets at most one.
// Thread-safe.
#ifndef OTC_TESTS_SIM_KUBE_FAULTS_H_
#define OTC_TESTS_SIM_KUBE_FAULTS_H_

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "sdk/include/otc/cpp/status.h"
#include "tests/sim/kube/json.h"
#include "tests/sim/kube/request_info.h"
#include "tests/sim/kube/response_writer.h"

namespace otc::kubesim {

// What a watch does differently from what it was asked for.
struct WatchFault {
  bool no_bookmarks = false;
  bool no_initial_events_end = false;             // accepts sendInitialEvents, never marks the end
  int refuse_watch_list = 0;                      // status for a watch with sendInitialEvents
  std::optional<std::uint64_t> end_after_events;  // ends orderly
  std::optional<std::uint64_t> expire_after_events;  // ERROR 410, then the end
  std::optional<std::uint64_t> error_after_events;   // ERROR with `error_status`
  Json error_status;
  std::string raw_frame;  // sent once, before the first event, as it is
};

enum class Effect {
  kNone,     // answered as usual (delay, wire and watch faults still apply)
  kRespond,  // the fault's own answer
  kRaw,      // the fault's bytes instead of an HTTP answer
  kHang,     // no answer; the connection stays
  kDrop,     // no answer; the connection ends
};

struct FaultAction {
  int delay_ms = 0;  // before anything else
  Effect effect = Effect::kNone;
  bool after_commit = false;  // the request is carried out first
  int status = 0;
  std::string content_type;
  std::string body;
  std::map<std::string, std::string> headers;
  EndStyle drop_style = EndStyle::kFin;
  WireFault wire;
  WatchFault watch;
};

class FaultScript {
 public:
  // One fault as the control API takes it (docs/reference/kube-sim.md); answers
  // its id. Unknown keys and bad values are refused, all at once.
  Result<std::uint64_t> Arm(const Json& fault);
  bool Disarm(std::uint64_t id);
  void Clear();

  // The action for this request, and the fault's id; nothing: no fault.
  std::optional<std::pair<std::uint64_t, FaultAction>> Take(const RequestInfo& info,
                                                            const HttpRequest& request);
  Json Describe() const;  // all armed faults with their hit counts

 private:
  struct Armed {
    std::uint64_t id = 0;
    std::string verb;
    std::optional<std::regex> target;
    std::string user_agent;
    std::uint64_t skip = 0;
    std::uint64_t times = 1;  // 0: without end
    std::uint64_t matched = 0;
    std::uint64_t hits = 0;
    FaultAction action;
    Json source;
  };

  mutable std::mutex mutex_;  // guards all below
  std::uint64_t next_id_ = 1;
  std::list<Armed> armed_;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_FAULTS_H_
