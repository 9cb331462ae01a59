// The services of the simulated cloud: each function adds the operations of one
// of them to the router. What they refer to outlives the router.
#ifndef OTC_TESTS_SIM_OTC_SERVICES_H_
#define OTC_TESTS_SIM_OTC_SERVICES_H_

#include <functional>
#include <string>

#include "tests/sim/otc/identity.h"
#include "tests/sim/otc/router.h"
#include "tests/sim/otc/world.h"

namespace otc::sim {

struct Cloud {
  const SimTime* time;
  Identity* identity;
  World* world;
  std::string region;
  std::function<std::string(const std::string& service)> url;  // base URL, no final slash
};

void AddIamRoutes(const Cloud& cloud, Router* router);        // iam_service.cc
void AddIamTokenRoutes(const Cloud& cloud, Router* router);   // iam_tokens.cc
void AddEcsRoutes(const Cloud& cloud, Router* router);        // ecs_service.cc
void AddEcsActionRoutes(const Cloud& cloud, Router* router);  // ecs_actions.cc
void AddNovaRoutes(const Cloud& cloud, Router* router);       // nova_service.cc
void AddEipRoutes(const Cloud& cloud, Router* router);        // eip_service.cc
void AddEvsRoutes(const Cloud& cloud, Router* router);        // evs_service.cc
void AddMetadataRoutes(const Cloud& cloud, Router* router);   // metadata_service.cc

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_SERVICES_H_
