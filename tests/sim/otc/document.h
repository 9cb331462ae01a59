// The start-up document: what the cloud holds and how it behaves, as JSON (a YAML
// file is turned into it first). The control API takes parts of the same format.
#ifndef OTC_TESTS_SIM_OTC_DOCUMENT_H_
#define OTC_TESTS_SIM_OTC_DOCUMENT_H_

#include <string>
#include <vector>

#include "tests/sim/otc/json.h"

namespace otc::sim {

class Simulator;

// All or nothing; the Status lists every mistake with its path. Returns the ids
// of the servers made, in order.
Result<std::vector<std::string>> LoadDocument(Simulator& simulator,
                                              Poco::JSON::Object::Ptr document);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_DOCUMENT_H_
