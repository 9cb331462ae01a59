// CallLog: what was asked of the server, for tests to assert on.
//
// Bounded (100,000 calls; the oldest go), bodies cut at 64 KiB. Authorization
// headers are never kept. Thread-safe.
#ifndef OTC_TESTS_SIM_KUBE_CALL_LOG_H_
#define OTC_TESTS_SIM_KUBE_CALL_LOG_H_

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "tests/sim/kube/json.h"
#include "tests/sim/kube/server.h"

namespace otc::kubesim {

class CallLog {
 public:
  // Notes a request as it comes in; SetStatus adds what is answered.
  std::uint64_t Begin(Call call);
  void SetStatus(std::uint64_t sequence, int status);
  void CountFault(std::uint64_t sequence, std::uint64_t fault);

  std::vector<Call> All() const;
  void Clear();  // calls and counters
  Counters counters() const;

  static Json ToJson(const Call& call);

 private:
  Call* FindCall(std::uint64_t sequence);

  mutable std::mutex mutex_;  // guards all below
  std::uint64_t next_ = 1;
  std::deque<Call> calls_;
  Counters counters_;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_CALL_LOG_H_
