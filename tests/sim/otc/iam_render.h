// Parts of IAM replies that more than one operation shows.
#ifndef OTC_TESTS_SIM_OTC_IAM_RENDER_H_
#define OTC_TESTS_SIM_OTC_IAM_RENDER_H_

#include <string>

#include "tests/sim/otc/behaviour.h"
#include "tests/sim/otc/json.h"
#include "tests/sim/otc/services.h"

namespace otc::sim {

// The value of `catalog`: public endpoints of all services; `identity` twice, as
// the real one has it (iam.md section 3).
void RenderCatalog(const Cloud& cloud, const std::string& project_id, const Behaviour& behaviour,
                   JsonWriter* json);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_IAM_RENDER_H_
