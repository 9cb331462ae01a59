// Tables: what the server prints for `kubectl get` (Accept: …;as=Table).
#ifndef OTC_TESTS_SIM_KUBE_TABLE_H_
#define OTC_TESTS_SIM_KUBE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/sim/kube/json.h"
#include "tests/sim/kube/object.h"

namespace otc::kubesim {

// How much of each object comes along with its row (query includeObject).
enum class IncludeObject { kMetadata, kNone, kObject };

struct TableOptions {
  std::int64_t now_seconds = 0;  // ages are counted from here
  IncludeObject include = IncludeObject::kMetadata;
  bool with_columns = true;  // only the first table of a watch has them
};

Json MakeTable(const ResourceInfo& resource, const Json& list_meta,
               const std::vector<ObjectPtr>& objects, const TableOptions& options);

// "5s", "3m20s", "4d2h": an age as kubectl users know it.
std::string HumanDuration(std::int64_t seconds);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_TABLE_H_
