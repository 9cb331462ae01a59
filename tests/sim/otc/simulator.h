// Simulator: the simulated cloud as one object, for the program otc-sim and for
// tests that embed it:
//
//   otc::sim::Simulator sim({});
//   sim.Start();                        // Status
//   sim.AddServer(server);              // or sim.world().AddServer(…)
//   sim.url("ecs");                     // "http://127.0.0.1:40123"
//
// One port for each service plus one for the control API, loopback unless told.
// The destructor stops everything. Thread-safe after Start.
#ifndef OTC_TESTS_SIM_OTC_SIMULATOR_H_
#define OTC_TESTS_SIM_OTC_SIMULATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/base/clock.h"
#include "sdk/include/otc/cpp/status.h"
#include "tests/sim/otc/behaviour.h"
#include "tests/sim/otc/call_log.h"
#include "tests/sim/otc/faults.h"
#include "tests/sim/otc/gateway.h"
#include "tests/sim/otc/http_port.h"
#include "tests/sim/otc/identity.h"
#include "tests/sim/otc/rate_limit.h"
#include "tests/sim/otc/router.h"
#include "tests/sim/otc/sim_time.h"
#include "tests/sim/otc/world.h"

namespace otc::sim {

struct Options {
  std::string bind_address = "127.0.0.1";
  std::map<std::string, std::uint16_t> ports;  // by service; absent: any free one
  // Both empty: plain HTTP. The control and metadata ports are always plain.
  std::string certificate_file;
  std::string key_file;
  std::uint64_t seed = 1;
  std::string region = "eu-de";
  const host::Clock* clock = nullptr;  // null: the system's
  Behaviour behaviour;
  std::string call_log_file;  // empty: memory only
  std::size_t call_log_limit = 50'000;
  int max_connections = 256;  // for each port
  int keep_alive_ms = 15'000;
};

// "iam", "ecs", "evs", "vpc", "elb", "metadata", "control".
const std::vector<std::string>& ServiceNames();

class Simulator {
 public:
  explicit Simulator(Options options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  Status Start();
  void Stop();

  // Base URL of a service, valid after Start; empty for an unknown name.
  std::string url(const std::string& service) const;
  std::uint16_t port(const std::string& service) const;
  // {"iam":40001,…,"urls":{"iam":"http://127.0.0.1:40001",…}}
  std::string PortsJson() const;

  World& world() { return world_; }
  Identity& identity() { return identity_; }
  Faults& faults() { return faults_; }
  RateLimits& rate_limits() { return rate_limits_; }
  CallLog& log() { return log_; }
  BehaviourBox& behaviour() { return behaviour_; }
  SimTime& time() { return time_; }
  const Options& options() const { return options_; }

  // Mutators for tests; servers without a project go to the standard one.
  Result<std::string> AddServer(Server server);
  Status SetServerStatus(const std::string& id, const std::string& status);
  Status ResizeServer(const std::string& id, const std::string& flavor);
  // A rule in the JSON of the control API; returns its id.
  Result<std::string> AddFault(const std::string& json);

  // Applies a document: options, accounts, flavors, servers, public IPs, faults,
  // rate limits (docs/reference/otc-sim.md). Nothing changes if anything in it is
  // wrong; the Status lists every mistake. Returns the ids of the new servers.
  Result<std::vector<std::string>> Load(const std::string& json);
  // Everything as after construction: world, accounts, faults, log, behaviour.
  void Reset();

 private:
  Options options_;
  host::SystemClock system_clock_;
  SimTime time_;
  World world_;
  Identity identity_;
  BehaviourBox behaviour_;
  Faults faults_{&world_};
  RateLimits rate_limits_{&time_};
  CallLog log_;
  Router router_;
  Gateway gateway_;
  std::map<std::string, std::unique_ptr<HttpPort>> ports_;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_SIMULATOR_H_
