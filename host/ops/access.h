// AccessReviewer: who may read the operations port.
//
// As the stock controller: a bearer token is judged by TokenReview, no token is
// system:anonymous; then paths on the always-allow list pass, everything else
// asks SubjectAccessReview for a non-resource path. Answers are remembered for a
// short time. A review that cannot be made denies. Thread-safe; blocks for at
// most 10 s a review.
#ifndef OTC_HOST_OPS_ACCESS_H_
#define OTC_HOST_OPS_ACCESS_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "host/base/clock.h"
#include "host/kube/api.h"
#include "host/ops/server.h"

namespace otc::host::ops {

struct AccessOptions {
  std::vector<std::string> always_allow_paths;
  Duration token_ttl = std::chrono::seconds(10);
  Duration allowed_ttl = std::chrono::seconds(10);
  Duration denied_ttl = std::chrono::seconds(10);
};

class AccessReviewer {
 public:
  // Either API may be null (no cluster configured): then only the always-allow
  // paths can be read.
  AccessReviewer(AccessOptions options, kube::KubeApi* authentication, kube::KubeApi* authorization,
                 Clock& clock, Log& log);

  // 200, 401 or 403.
  Response Judge(const Request& request);

 private:
  struct User {
    bool authenticated = false;
    std::string name;
    std::string uid;
    std::vector<std::string> groups;
  };
  struct CachedUser {
    User user;
    MonoTime until;
  };
  struct CachedVerdict {
    bool allowed = false;
    MonoTime until;
  };

  bool AlwaysAllowed(const std::string& path) const;
  User Authenticate(const std::string& token);
  bool Authorize(const User& user, const std::string& verb, const std::string& path);
  bool ReviewAccess(const User& user, const std::string& verb, const std::string& path);

  const AccessOptions options_;
  kube::KubeApi* const authentication_;
  kube::KubeApi* const authorization_;
  Clock& clock_;
  Log& log_;
  std::mutex mutex_;                               // guards the caches
  std::map<std::string, CachedUser> users_;        // by SHA-256 of the token
  std::map<std::string, CachedVerdict> verdicts_;  // by user, verb and path
};

}  // namespace otc::host::ops

#endif  // OTC_HOST_OPS_ACCESS_H_
