// ApiStatus: the API server's Status object, and what it means to callers.
#ifndef OTC_HOST_KUBE_API_STATUS_H_
#define OTC_HOST_KUBE_API_STATUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/include/otc/cpp/status.h"

namespace otc::host::kube {

struct ApiStatus {
  int code = 0;
  std::string reason;
  std::string message;
  std::vector<std::string> causes;  // reasons of details.causes
  std::uint64_t retry_after_seconds = 0;
};

// The mapping of api.h. `body` gives reason and message where it could be read;
// otherwise both come from the HTTP status. `what` names the call ("GET
// /api/v1/nodes/a").
Status StatusFromApi(int http_status, const ApiStatus& body, std::uint64_t retry_after_ms,
                     const std::string& what);

// The server's cache is behind the resourceVersion that was asked for: read
// again without one.
bool IsResourceVersionTooLarge(const ApiStatus& status);
// The resourceVersion or continue token is older than what the server keeps.
bool IsExpired(const ApiStatus& status);

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_API_STATUS_H_
