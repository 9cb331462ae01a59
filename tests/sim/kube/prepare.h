// Preparation: what the server itself fills in, resets and defaults before an
// object is validated and stored.
#ifndef OTC_TESTS_SIM_KUBE_PREPARE_H_
#define OTC_TESTS_SIM_KUBE_PREPARE_H_

#include <string>

#include "tests/sim/kube/json.h"
#include "tests/sim/kube/resources.h"
#include "tests/sim/kube/schema.h"

namespace otc::kubesim {

struct WriteContext {
  std::string now;              // metav1.Time
  std::string field_manager;    // for managedFields
  std::string subresource;      // "" or "status"
  bool not_ready_taint = true;  // as the admission plug-in TaintNodesByCondition
};

// Fills name (from generateName), uid, creationTimestamp, defaults.
void PrepareCreate(const ResourceInfo& resource, const WriteContext& context, Json& document);

// Restores what the subresource may not change and what the client left out.
void PrepareUpdate(const ResourceInfo& resource, const WriteContext& context,
                   const Json& old_document, Json& document);

// Records who wrote; not called for writes that change nothing.
void TrackManager(const ResourceInfo& resource, const WriteContext& context, Json& document);

// Makes the parts that the API types always print ("spec": {}), at any depth.
void FillMessages(const MessageType& type, Json& document);

// Removes empty values that the API types omit, so that "no change" is seen.
void DropEmpties(Json& document);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_PREPARE_H_
