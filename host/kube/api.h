// KubeApi: what controllers, leader election and events ask of an API server.
//
// The real one is client.h over HTTPS; tests of controllers use a fake. Methods
// block until answered, until the context's deadline or its cancellation. They
// are thread-safe. Errors: HTTP and Status.reason are mapped as
//   404 NotFound            kNotFound          409 AlreadyExists  kAlreadyExists
//   409 Conflict            kAborted           410 Expired, Gone  kOutOfRange
//   403 Forbidden           kPermissionDenied  401                kUnauthenticated
//   422 Invalid, 400, 415   kInvalidArgument   429                kResourceExhausted
//   5xx, transport          kUnavailable       deadline           kDeadlineExceeded
// with Status::reason() = the API's reason ("Conflict") and retry_after_ms from
// Retry-After.
#ifndef OTC_HOST_KUBE_API_H_
#define OTC_HOST_KUBE_API_H_

#include <string>

#include "host/base/cancellation.h"
#include "host/kube/types.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::kube {

enum class PatchType { kMerge, kStrategicMerge, kJson };

struct DeletePreconditions {
  std::string uid;               // empty: none
  std::string resource_version;  // empty: none
};

// Which client rate-limit bucket and connection a call uses. Leases have their
// own of both, so that nothing can starve leader election.
enum class Lane { kNormal, kLease, kEvents };

// One raw call; `path` is below the server's prefix and already escaped.
struct RawRequest {
  std::string method;  // GET, POST, PUT (leases only), PATCH, DELETE
  std::string path;    // "/api/v1/nodes/a?resourceVersion=0"
  std::string content_type;
  std::string body;
  std::string accept = "application/json";
  Lane lane = Lane::kNormal;
};

struct RawResponse {
  int http_status = 0;
  std::string content_type;
  std::string body;
  std::uint64_t retry_after_ms = 0;
};

class KubeApi {
 public:
  virtual ~KubeApi() = default;

  // `resource_version` "" reads the newest (quorum), "0" what the server has cached.
  virtual Result<Node> GetNode(const std::string& name, const std::string& resource_version,
                               const CallContext& context) = 0;
  // `subresource` "" or "status". Answers the node as it is after the patch.
  virtual Result<Node> PatchNode(const std::string& name, PatchType type, const std::string& body,
                                 const std::string& subresource, const CallContext& context) = 0;
  virtual Status DeleteNode(const std::string& name, const DeletePreconditions& preconditions,
                            const CallContext& context) = 0;

  virtual Result<Lease> GetLease(const std::string& namespace_name, const std::string& name,
                                 const CallContext& context) = 0;
  virtual Result<Lease> CreateLease(const Lease& lease, const CallContext& context) = 0;
  // PUT with the lease's resource_version: kAborted if somebody else was faster.
  virtual Result<Lease> UpdateLease(const Lease& lease, const CallContext& context) = 0;

  // Any other call; HTTP errors are mapped as above.
  virtual Result<RawResponse> Call(const RawRequest& request, const CallContext& context) = 0;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_API_H_
