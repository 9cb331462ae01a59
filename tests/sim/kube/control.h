// The control API: everything that Server offers in process, over plain HTTP.
#ifndef OTC_TESTS_SIM_KUBE_CONTROL_H_
#define OTC_TESTS_SIM_KUBE_CONTROL_H_

#include "tests/sim/kube/http_message.h"
#include "tests/sim/kube/response_writer.h"
#include "tests/sim/kube/server.h"

namespace otc::kubesim {

// Answers one request below /_sim; docs/reference/kube-sim.md lists them.
void ServeControl(Server& server, const HttpRequest& request, ResponseWriter& writer);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_CONTROL_H_
