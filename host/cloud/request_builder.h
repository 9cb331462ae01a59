// From a plugin's CloudRequest to the HTTP request: checks, path, query, headers.
//
// Nothing from a plugin reaches the wire unchecked: no line breaks, no header that
// belongs to the host, no path that leaves its place. What is signed is exactly
// what is sent. Pure; the signature itself is added for each attempt by the sender.
#ifndef OTC_HOST_CLOUD_REQUEST_BUILDER_H_
#define OTC_HOST_CLOUD_REQUEST_BUILDER_H_

#include <string>
#include <vector>

#include "host/cloud/endpoints.h"
#include "host/cloud/errors.h"
#include "host/http/client.h"
#include "otc/plugin/v1/cloud.pb.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::cloud {

struct BuiltRequest {
  http::Request http;                        // without what the signature adds
  std::vector<http::Header> signed_headers;  // those of http.headers to be signed
  std::string service;
  std::string path;     // as the plugin wrote it, for logs: {project_id} not filled in
  std::string purpose;  // metric label
  bool is_signed = true;
  bool write = true;
  bool idempotent = false;
  MethodGroup group = MethodGroup::kPost;
  Duration timeout{};
};

bool IsWrite(const plugin::v1::CloudRequest& request);

// INVALID_ARGUMENT "BadRequest", naming what is wrong with which part.
Status CheckRequest(const plugin::v1::CloudRequest& request);

// True if the project's id must be known to build the request.
bool NeedsProject(const plugin::v1::CloudRequest& request, const Endpoint& endpoint);

// Of a request that passed CheckRequest. `project_id` may be empty if not needed.
BuiltRequest BuildRequest(const plugin::v1::CloudRequest& request, const Endpoint& endpoint,
                          const std::string& project_id);

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_REQUEST_BUILDER_H_
