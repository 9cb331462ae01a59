// ProblemReporter: an event on a Node that says why it is still uninitialised.
//
// Failures in the first seconds of a node's life are ordinary (the cloud's list
// lags), so nothing is reported before `after`; later the same text is repeated
// only every `again`, another text at once. Memory: one entry for each node that
// fails at present. Thread-safe.
#ifndef OTC_HOST_CONTROLLERS_PROBLEM_REPORTER_H_
#define OTC_HOST_CONTROLLERS_PROBLEM_REPORTER_H_

#include <map>
#include <mutex>
#include <string>

#include "host/base/clock.h"
#include "host/kube/event_recorder.h"

namespace otc::host {

class ProblemReporter {
 public:
  // Reason of the events.
  static constexpr char kReason[] = "NodeNotInitialized";

  ProblemReporter(kube::EventRecorder& events, Clock& clock, Duration after, Duration again)
      : events_(events), clock_(clock), after_(after), again_(again) {}

  void Report(const kube::Node& node, const std::string& text);
  void Clear(const std::string& name);

 private:
  struct Problem {
    MonoTime since{};
    MonoTime reported{};
    std::string text;  // as last reported; empty: not yet
  };

  kube::EventRecorder& events_;
  Clock& clock_;
  const Duration after_;
  const Duration again_;
  std::mutex mutex_;
  std::map<std::string, Problem> problems_;  // by node name
};

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_PROBLEM_REPORTER_H_
