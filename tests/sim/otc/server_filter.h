// Filters of the two server lists (ecs.md sections 2 and 3), on the model.
// Pure functions.
#ifndef OTC_TESTS_SIM_OTC_SERVER_FILTER_H_
#define OTC_TESTS_SIM_OTC_SERVER_FILTER_H_

#include <string>
#include <vector>

#include "sdk/include/otc/cpp/status.h"
#include "tests/sim/otc/behaviour.h"
#include "tests/sim/otc/http_types.h"
#include "tests/sim/otc/world.h"

namespace otc::sim {

using ServerVector = std::vector<World::ServerPtr>;

// The servers of `project_id` that pass the query's filters; unknown query keys
// are ignored, as the cloud does. INVALID_ARGUMENT for a name that is no regular
// expression.
Result<ServerVector> FilterServers(const ServerVector& servers, const std::string& project_id,
                                   const Request& request, const Behaviour& behaviour);

// "ACTIVE" also matches REBOOT, RESIZE …; see ecs.md section 2.
bool StatusMatches(const std::string& filter, const std::string& status);
bool IsKnownStatus(const std::string& status);

// A whole number of the query; `fallback` if absent, nothing if not in range.
std::optional<std::int64_t> QueryInt(const Request& request, std::string_view key,
                                     std::int64_t fallback, std::int64_t min, std::int64_t max);

// 8-4-4-4-12 hexadecimal digits.
bool IsUuid(std::string_view text);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_SERVER_FILTER_H_
