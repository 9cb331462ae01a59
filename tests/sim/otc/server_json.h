// Reading objects of the cloud from the start-up file and the control API, one
// format for both: seeds (a whole object, missing members get defaults) and
// patches (only the members that are present).
//
// Pure functions; mistakes are gathered in `errors`.
#ifndef OTC_TESTS_SIM_OTC_SERVER_JSON_H_
#define OTC_TESTS_SIM_OTC_SERVER_JSON_H_

#include <optional>
#include <string>
#include <vector>

#include "tests/sim/otc/json.h"
#include "tests/sim/otc/model.h"

namespace otc::sim {

struct ServerSeed {
  Server server;
  std::int64_t count = 1;                // more than 1: `%d` (or `%04d`) in the name
  std::optional<std::string> public_ip;  // "auto" or an address
};

ServerSeed ReadServerSeed(Poco::JSON::Object::Ptr object, const std::string& path,
                          std::vector<std::string>* errors);
// Applies the members that are present.
void ReadServerPatch(Poco::JSON::Object::Ptr object, const std::string& path, Server* server,
                     std::vector<std::string>* errors);
PublicIp ReadPublicIp(Poco::JSON::Object::Ptr object, const std::string& path,
                      std::vector<std::string>* errors);
void ReadPublicIpPatch(Poco::JSON::Object::Ptr object, const std::string& path, PublicIp* ip,
                       std::vector<std::string>* errors);
Flavor ReadFlavor(Poco::JSON::Object::Ptr object, const std::string& path,
                  std::vector<std::string>* errors);

// The name of copy `index` of a seed; the pattern's own name if count is 1.
std::string SeedName(const ServerSeed& seed, std::int64_t index);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_SERVER_JSON_H_
