// How a server looks in the replies of ECS v1 and of Nova: same server, two
// tongues (ecs.md sections 2 and 3). Appends to a JsonWriter. Pure functions.
#ifndef OTC_TESTS_SIM_OTC_ECS_RENDER_H_
#define OTC_TESTS_SIM_OTC_ECS_RENDER_H_

#include <map>
#include <optional>
#include <string>

#include "tests/sim/otc/behaviour.h"
#include "tests/sim/otc/json.h"
#include "tests/sim/otc/model.h"

namespace otc::sim {

struct RenderContext {
  std::map<std::string, Flavor> flavors;
  std::map<std::string, std::string> floating;  // port id -> public address
  Behaviour behaviour;
  int microversion = 1;   // Nova: 2.<this>
  std::string nova_base;  // ".../v2.1/P", for links
};

void RenderServerV1(const Server& server, const RenderContext& context, JsonWriter* json);
void RenderServerNova(const Server& server, const RenderContext& context, JsonWriter* json);
// Body of os-interface, without the braces of v1's extra member.
void RenderInterfaces(const Server& server, JsonWriter* json);

std::string VmState(const std::string& status);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_ECS_RENDER_H_
