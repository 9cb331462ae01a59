// Behaviour: the switches that may change while the simulator runs: strictness,
// what the documents leave open, latency, and deliberate defects.
//
// A value; BehaviourBox hands out copies and is thread-safe.
#ifndef OTC_TESTS_SIM_OTC_BEHAVIOUR_H_
#define OTC_TESTS_SIM_OTC_BEHAVIOUR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/otc/json.h"

namespace otc::sim {

enum class SignatureMode {
  kStrict,  // signing.md section 2 only
  kCompat,  // also the known variants of official clients
  kOff,     // the key must exist, the signature may be anything
};

struct Latency {
  std::int64_t ms = 0;
  std::int64_t jitter_ms = 0;  // uniform in [0, jitter_ms), added
};

struct Behaviour {
  SignatureMode signatures = SignatureMode::kStrict;
  std::int64_t clock_window_s = 900;
  std::int64_t lock_after = 5;  // wrong signatures in a row
  std::int64_t lock_ms = 300'000;
  bool canonical_in_error = true;  // the gateway's canonical request in a 401

  // What the documents leave open.
  std::string name_filter = "regex";         // regex, substring (anchors are letters), ignored
  bool ip_eq_filter = false;                 // honour `ip_eq` in the server list
  bool eip_port_filter = false;              // honour `port_id` in the EIP list
  bool internal_links = false;               // `next` of Nova lists names a host nobody reaches
  bool nova_microversions = true;            // false: the header is ignored, as in eu-ch2
  std::int64_t metadata_token_status = 404;  // of PUT …/api/token: 200, 404, 405, 503
  std::string metadata_server;               // id of "this" instance; empty: the first server
  std::int64_t job_ms = 200;                 // how long a server job takes

  std::map<std::string, Latency> latency;  // by service; "" for all others
  std::set<std::string> defects;

  bool Defect(const std::string& name) const { return defects.count(name) != 0; }
  Latency LatencyOf(const std::string& service) const;
};

// The deliberate defects that exist, each with what is wrong under it.
const std::map<std::string, std::string>& KnownDefects();

// Takes over the members that are present. Mistakes go to `errors`; members that
// are right are applied all the same, so callers work on a copy.
void ReadBehaviour(Poco::JSON::Object::Ptr object, const std::string& path, Behaviour* behaviour,
                   std::vector<std::string>* errors);
std::string BehaviourToJson(const Behaviour& behaviour);

class BehaviourBox {
 public:
  explicit BehaviourBox(Behaviour behaviour) : behaviour_(std::move(behaviour)) {}
  Behaviour Get() const {
    std::lock_guard lock(mutex_);
    return behaviour_;
  }
  void Change(const std::function<void(Behaviour&)>& change) {
    std::lock_guard lock(mutex_);
    change(behaviour_);
  }

 private:
  mutable std::mutex mutex_;
  Behaviour behaviour_;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_BEHAVIOUR_H_
