// RequestInfo: what an API path asks for, in Kubernetes' own words.
#ifndef OTC_TESTS_SIM_KUBE_REQUEST_INFO_H_
#define OTC_TESTS_SIM_KUBE_REQUEST_INFO_H_

#include <string>

#include "tests/sim/kube/http_message.h"
#include "tests/sim/kube/resources.h"

namespace otc::kubesim {

struct RequestInfo {
  // get, list, watch, create, update, patch, delete, deletecollection; for paths
  // that are no resource the lower-case HTTP method.
  std::string verb;
  const ResourceInfo* resource = nullptr;  // null: no resource path, or not served
  bool is_resource_path = false;           // of the form of one, known or not
  std::string namespace_name;
  std::string name;
  std::string subresource;
};

RequestInfo ParseRequestInfo(const HttpRequest& request);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_REQUEST_INFO_H_
