// Gateway: what stands in front of every service: size limits, scripted faults,
// route, credentials, throttling, project scope, then the service itself, then
// the standard headers and the call log. One order for all services.
//
// Handle runs on many threads at once; everything it refers to is thread-safe
// and outlives it. Owned by Simulator.
#ifndef OTC_TESTS_SIM_OTC_GATEWAY_H_
#define OTC_TESTS_SIM_OTC_GATEWAY_H_

#include <atomic>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include "tests/sim/otc/auth.h"
#include "tests/sim/otc/behaviour.h"
#include "tests/sim/otc/call_log.h"
#include "tests/sim/otc/faults.h"
#include "tests/sim/otc/identity.h"
#include "tests/sim/otc/rate_limit.h"
#include "tests/sim/otc/router.h"

namespace otc::sim {

struct GatewayParts {
  const SimTime* time;
  Identity* identity;
  const Router* router;
  const BehaviourBox* behaviour;
  Faults* faults;
  RateLimits* rate_limits;
  CallLog* log;
};

class Gateway {
 public:
  Gateway(const GatewayParts& parts, std::uint64_t seed);

  Reply Handle(const Request& request);

 private:
  // The way through the checks to the service; fills in what the log wants.
  Response Process(Call& call, const std::optional<Match>& match, LoggedCall* entry);
  std::optional<Response> CheckScope(Call& call, Scope scope);
  std::string NewRequestId();
  std::int64_t DrawLatency(const Latency& latency);

  GatewayParts parts_;
  Authenticator authenticator_;
  std::mutex random_mutex_;
  std::mt19937_64 random_;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_GATEWAY_H_
