// Router: which operation of which service a request means.
//
// Filled once before the ports open, read by all threads afterwards.
#ifndef OTC_TESTS_SIM_OTC_ROUTER_H_
#define OTC_TESTS_SIM_OTC_ROUTER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/otc/auth.h"
#include "tests/sim/otc/http_types.h"
#include "tests/sim/otc/world.h"

namespace otc::sim {

// One request on its way through a service.
struct Call {
  const Request& request;
  const Behaviour& behaviour;
  std::string request_id;
  Principal principal;
  std::string project_id;         // the context's; empty: none
  std::vector<std::string> args;  // decoded `{}` parts of the path
  View view;
};

// What the gateway checks before the handler runs.
enum class Scope {
  kOpen,        // no credentials at all
  kAccount,     // credentials, any scope
  kEcsProject,  // the first `{}` is the project of the context; errors of ECS v1
  kNovaProject,
  kVpcProject,
  kProject,  // a project must be the context, the path does not name it
};

struct Route {
  std::string service;
  std::string method;
  std::string pattern;    // "/v1/{}/cloudservers/{}"
  std::string operation;  // "ecs.server.get": name in faults, log and counters
  Scope scope = Scope::kAccount;
  std::function<Response(Call&)> handle;
};

struct Match {
  const Route* route = nullptr;
  std::vector<std::string> args;
};

class Router {
 public:
  void Add(Route route);
  // With or without a final slash; literal parts win over `{}`.
  std::optional<Match> Find(const std::string& service, const std::string& method,
                            std::string_view raw_path) const;
  std::vector<std::string> Operations() const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string> parts;
  };
  std::vector<Entry> entries_;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_ROUTER_H_
