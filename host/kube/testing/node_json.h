// Node objects as JSON documents, and the patches that an API server applies to
// them. For FakeKubeApi only.
#ifndef OTC_HOST_KUBE_TESTING_NODE_JSON_H_
#define OTC_HOST_KUBE_TESTING_NODE_JSON_H_

#include <Poco/JSON/Object.h>

#include <string>

#include "host/kube/api.h"

namespace otc::host::kube {

// Throws Poco::Exception on text that is not a JSON object.
Poco::JSON::Object::Ptr ParseObject(const std::string& text);
std::string ToJson(const Poco::JSON::Object::Ptr& object);
Poco::JSON::Object::Ptr DeepCopy(const Poco::JSON::Object::Ptr& object);

// The whole object that a client would have sent for `node`.
std::string NodeToJson(const Node& node);

// RFC 7396, in place.
void ApplyMergePatch(Poco::JSON::Object::Ptr target, const Poco::JSON::Object::Ptr& patch);
// Strategic merge of a Node, in place: addresses and conditions are merged by
// type, finalizers as a set, everything else as a merge patch. Throws
// Poco::InvalidArgumentException on directives it does not know.
void ApplyStrategicPatch(Poco::JSON::Object::Ptr target, const Poco::JSON::Object::Ptr& patch);

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_TESTING_NODE_JSON_H_
