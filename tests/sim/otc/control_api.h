// The control API, /_sim/… on its own port: how a test in another process drives
// the simulator. Plain JSON without credentials, loopback by default; every
// mistake is a 400 whose `error` lists all of them.
#ifndef OTC_TESTS_SIM_OTC_CONTROL_API_H_
#define OTC_TESTS_SIM_OTC_CONTROL_API_H_

#include "tests/sim/otc/http_types.h"

namespace otc::sim {

class Simulator;

Response HandleControl(Simulator& simulator, const Request& request);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_CONTROL_API_H_
