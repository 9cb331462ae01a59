// Faults: the script of what goes wrong. A rule matches calls (service, method,
// operation, path, which of the matching calls) and says what happens to them.
//
// Thread-safe; owned by Simulator. Of several matching rules the first one that
// is due acts; all matching ones count the call.
#ifndef OTC_TESTS_SIM_OTC_FAULTS_H_
#define OTC_TESTS_SIM_OTC_FAULTS_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "tests/sim/otc/http_types.h"
#include "tests/sim/otc/json.h"
#include "tests/sim/otc/world.h"

namespace otc::sim {

enum class FaultKind {
  kDelay,        // answer late by `ms`
  kTimeout,      // not carried out, no answer for `ms` (0: until the client leaves)
  kDropBefore,   // not carried out, connection closed
  kDropAfter,    // carried out, connection closed without an answer
  kLostReply,    // carried out, no answer for `ms`, then closed
  kStatus,       // `status` with `body` (or the service's own words); `commit`: carried out
  kGarbage,      // 200 with a body that is not JSON; `commit`
  kGarbageWire,  // bytes that are not HTTP; `commit`
  kTruncate,     // carried out, half of the body (or `bytes`) arrives
  kLag,          // lists show the world `calls` matching calls ago, or `ms` ago
  kEmptyList,    // lists show nothing
  kEditReply,    // `remove` and `set` members of the JSON answer
};

struct FaultRule {
  std::string id;
  // Match; empty: any.
  std::string service, method, operation, path;
  std::int64_t nth = 1;    // the first matching call that is hit
  std::int64_t count = 1;  // how many in a row; 0: all from there on
  // Action.
  FaultKind kind = FaultKind::kStatus;
  std::int64_t ms = 0;
  std::int64_t status = 500;
  std::optional<std::string> body;
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers;
  bool commit = false;
  std::optional<std::int64_t> bytes;
  std::int64_t calls = 0;
  std::vector<std::string> remove;                // "servers.*.flavor.name"
  std::map<std::string, Poco::Dynamic::Var> set;  // path -> value
};

// Reads one rule; every mistake goes to `errors`.
FaultRule ReadFaultRule(Poco::JSON::Object::Ptr object, const std::string& path,
                        std::vector<std::string>* errors);

// A rule that acts on this call.
struct ActiveFault {
  FaultRule rule;
  View view;  // kLag, kEmptyList

  bool before() const;  // the call must not be carried out
};

class Faults {
 public:
  explicit Faults(World* world) : world_(world) {}

  // Returns the rule's id (made up if empty; an equal id is replaced).
  std::string Add(FaultRule rule);
  bool Remove(const std::string& id);
  void Clear();

  std::optional<ActiveFault> Next(const Request& request, const std::string& operation);

  // How often the rule has acted; 0 for an unknown id.
  std::int64_t Fired(const std::string& id) const;
  // Real time; false: it did not act that often within `timeout_ms`.
  bool WaitFired(const std::string& id, std::int64_t times, std::int64_t timeout_ms) const;
  std::string ToJson() const;

 private:
  struct Entry {
    FaultRule rule;
    std::optional<std::regex> path;
    std::int64_t seen = 0;
    std::int64_t fired = 0;
    std::deque<Revision> past;  // kLag by calls: the world at the last matching calls
  };

  static bool Matches(const Entry& entry, const Request& request, const std::string& operation);
  View ViewFor(Entry* entry);

  World* world_;
  mutable std::mutex mutex_;
  mutable std::condition_variable fired_;
  std::vector<Entry> entries_;
  std::int64_t next_id_ = 1;
};

// The answer that a fault makes of the real one (`request_id` for scripted errors).
Reply ApplyFault(const ActiveFault& fault, const Request& request, Response real,
                 const std::string& request_id);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_FAULTS_H_
