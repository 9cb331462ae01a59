// Auth: who asks, and whether they may.
//
// Users come from Server::AddUser or --users-file. Without require_auth a request
// that brings no credential is an administrator, so that nothing has to be set up
// for a demo; a token that is brought is always checked. Thread-safe.
#ifndef OTC_TESTS_SIM_KUBE_AUTH_H_
#define OTC_TESTS_SIM_KUBE_AUTH_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sdk/include/otc/cpp/status.h"
#include "tests/sim/kube/http_message.h"
#include "tests/sim/kube/json.h"
#include "tests/sim/kube/server.h"

namespace otc::kubesim {

struct Identity {
  std::string name;
  std::vector<std::string> groups;
};

// What is to be allowed: a resource or a path.
struct AccessQuestion {
  std::string verb;
  std::string group;
  std::string resource;  // with subresource: "nodes/status"
  std::string namespace_name;
  std::string name;
  std::string path;  // set: not a resource
};

class Auth {
 public:
  explicit Auth(bool require_auth) : require_auth_(require_auth) {}

  Status AddUser(const User& user);
  // Nothing: 401.
  std::optional<Identity> Authenticate(const HttpRequest& request) const;
  std::optional<Identity> IdentityOfToken(const std::string& token) const;
  // "" if allowed, else the text of the 403.
  std::string WhyForbidden(const Identity& identity, const AccessQuestion& question) const;
  // A fresh token for a service account.
  std::string IssueServiceAccountToken(const std::string& namespace_name, const std::string& name);

 private:
  struct Known {
    Identity identity;
    Json rules;
  };

  const bool require_auth_;
  mutable std::mutex mutex_;  // guards all below
  std::map<std::string, Known> by_name_;
  std::map<std::string, std::string> name_by_token_;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_AUTH_H_
