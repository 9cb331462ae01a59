// Nodes of realistic size, for memory and speed: 12.6 kB of JSON each, with 14
// labels, 5 conditions, 40 images and three entries of managed fields.
#ifndef OTC_TESTS_SIM_KUBE_NODE_GENERATOR_H_
#define OTC_TESTS_SIM_KUBE_NODE_GENERATOR_H_

#include <string>

#include "tests/sim/kube/json.h"

namespace otc::kubesim {

// Deterministic: number `index` always makes the same node. It is initialised
// (providerID otc:///<uuid of index>, no taint) and Ready.
Json GenerateNode(const std::string& prefix, std::size_t index, const std::string& now);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_NODE_GENERATOR_H_
