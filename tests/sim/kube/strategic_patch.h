// The three kinds of patch that the API server takes for built-in kinds.
#ifndef OTC_TESTS_SIM_KUBE_STRATEGIC_PATCH_H_
#define OTC_TESTS_SIM_KUBE_STRATEGIC_PATCH_H_

#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/json.h"
#include "tests/sim/kube/schema.h"

namespace otc::kubesim {

// Strategic merge: lists merge by the merge keys of `type`; directives $patch
// (merge, replace, delete), $retainKeys, $setElementOrder/<list> and
// $deleteFromPrimitiveList/<list>. Lists without a merge key are replaced whole.
ApiResult<Json> StrategicMergePatch(const Json& original, const Json& patch,
                                    const MessageType& type);

// RFC 7386.
Json JsonMergePatch(Json original, const Json& patch);

// RFC 6902; any failing operation, a `test` too, is 422.
ApiResult<Json> JsonPatch(const Json& original, const Json& operations);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_STRATEGIC_PATCH_H_
