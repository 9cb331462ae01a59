// CallLog: what was asked and answered, for assertions on requests and for
// post-mortems. Bounded in memory; each entry is one JSON line, also appended to
// a file if one is named. Secrets (signatures, tokens, IAM bodies) are left out.
//
// Thread-safe; owned by Simulator.
#ifndef OTC_TESTS_SIM_OTC_CALL_LOG_H_
#define OTC_TESTS_SIM_OTC_CALL_LOG_H_

#include <cstdint>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "sdk/include/otc/cpp/status.h"
#include "tests/sim/otc/http_types.h"

namespace otc::sim {

struct LoggedCall {
  std::int64_t seq = 0;
  std::int64_t unix_ms = 0;  // the simulated clock
  std::string service;
  std::string method;
  std::string target;
  std::string operation;  // empty: no such route
  std::string project_id;
  std::string auth;        // "signature", "token", "none"
  std::string access_key;  // with signatures
  std::string request_id;
  int status = 0;        // what was or would have been answered
  std::string delivery;  // "sent", "closed", "truncated", "raw", "held"
  std::string fault;     // id of the rule that acted
  bool handled = false;  // the service carried it out
  std::int64_t response_bytes = 0;
  std::int64_t micros = 0;  // spent inside, latency not included
  std::vector<Header> headers;
  std::string body;

  std::string ToJson() const;
};

// Headers fit for the log: credentials replaced by what kind they were.
std::vector<Header> LoggableHeaders(const std::vector<Header>& headers);

class CallLog {
 public:
  explicit CallLog(std::size_t limit) : limit_(limit) {}

  Status OpenFile(const std::string& path);
  void Add(LoggedCall call);
  // Those with seq > `after`, oldest first.
  std::vector<LoggedCall> Since(std::int64_t after) const;
  // All calls since the start or the last Clear, also those no longer kept:
  // "ecs.server.get 200" -> 3; unknown routes as "ecs - 404".
  std::map<std::string, std::int64_t> Counters() const;
  std::int64_t Count(const std::string& operation) const;  // any status
  void Clear();

 private:
  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::deque<LoggedCall> calls_;
  std::map<std::string, std::int64_t> counters_;
  std::map<std::string, std::int64_t> by_operation_;
  std::int64_t next_seq_ = 1;
  std::ofstream file_;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_CALL_LOG_H_
