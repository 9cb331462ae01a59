// Error bodies of the simulated cloud, in the shapes of its services
// (errors-and-limits, section 1). Pure functions.
#ifndef OTC_TESTS_SIM_OTC_ERRORS_H_
#define OTC_TESTS_SIM_OTC_ERRORS_H_

#include <string>
#include <string_view>

#include "tests/sim/otc/http_types.h"

namespace otc::sim {

// Shape 1: the gateway in front of every service, {"error_msg","error_code","request_id"}.
Response GatewayError(int status, std::string_view code, std::string_view message,
                      std::string_view request_id);
// Shape 2 without a request id: IAM, {"error_code","error_msg"}.
Response IamError(int status, std::string_view code, std::string_view message);
// Shape 3: ECS and EVS, {"error":{"code","message"}}.
Response EcsError(int status, std::string_view code, std::string_view message);
// Shape 4: VPC and EIP v1, {"code","message"}.
Response VpcError(int status, std::string_view code, std::string_view message);
// Shape 5: Nova, {"<kind>":{"message","code"}}; the code is a number.
Response NovaError(int status, std::string_view kind, std::string_view message);
// Shape 7: keystone, {"error":{"code","message","title"}}.
Response KeystoneError(int status, std::string_view title, std::string_view message);

// What a service would say to a scripted failure of that status.
Response ScriptedError(const std::string& service, int status, std::string_view request_id);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_ERRORS_H_
