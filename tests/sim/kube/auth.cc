#include "tests/sim/kube/auth.h"

#include <algorithm>

#include "host/base/strings.h"

namespace otc::kubesim {
namespace {

constexpr char kMasters[] = "system:masters";

bool Listed(const Json& rule, const char* key, const std::string& value) {
  const Json* list = Find(rule, {key});
  if (list == nullptr) {
    return true;
  }
  return std::any_of(list->begin(), list->end(),
                     [&](const Json& entry) { return entry == "*" || entry == value; });
}

bool PathListed(const Json& rule, const std::string& path) {
  const Json* list = Find(rule, {"paths"});
  if (list == nullptr) {
    return false;
  }
  return std::any_of(list->begin(), list->end(), [&](const Json& entry) {
    if (!entry.is_string()) {
      return false;
    }
    const std::string pattern = entry.get<std::string>();
    return pattern == path || (!pattern.empty() && pattern.back() == '*' &&
                               path.rfind(pattern.substr(0, pattern.size() - 1), 0) == 0);
  });
}

bool Allows(const Json& rule, const AccessQuestion& question) {
  if (!Listed(rule, "verbs", question.verb)) {
    return false;
  }
  if (!question.path.empty()) {
    return PathListed(rule, question.path);
  }
  return !rule.contains("paths") && Listed(rule, "groups", question.group) &&
         Listed(rule, "resources", question.resource) &&
         Listed(rule, "namespaces", question.namespace_name) &&
         Listed(rule, "names", question.name);
}

// What every authenticated user may do.
bool AlwaysAllowed(const AccessQuestion& question) {
  static const std::vector<std::string> kPaths = {"/healthz", "/livez", "/readyz", "/version",
                                                  "/api",     "/apis",  "/openapi"};
  for (const std::string& path : kPaths) {
    if (question.path == path || question.path.rfind(path + "/", 0) == 0) {
      return true;
    }
  }
  return question.resource == "selfsubjectaccessreviews";
}

Status CheckRules(const Json& rules) {
  static const std::vector<std::string> kKeys = {"verbs",      "groups", "resources",
                                                 "namespaces", "names",  "paths"};
  if (!rules.is_array()) {
    return Status(Code::kInvalidArgument, "BadRules", "rules are a JSON list of objects");
  }
  for (const Json& rule : rules) {
    if (!rule.is_object()) {
      return Status(Code::kInvalidArgument, "BadRules", "each rule is an object");
    }
    for (const auto& [key, value] : rule.items()) {
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end() || !value.is_array()) {
        return Status(
            Code::kInvalidArgument, "BadRules",
            "key " + host::JsonQuote(key) + ": allowed are lists named " + host::Join(kKeys, ", "));
      }
    }
  }
  return Status::Ok();
}

}  // namespace

Status Auth::AddUser(const User& user) {
  const std::optional<Json> rules = ParseJson(user.rules_json);
  if (!rules) {
    return Status(Code::kInvalidArgument, "BadRules", "rules of " + user.name + " are not JSON");
  }
  OTC_RETURN_IF_ERROR(CheckRules(*rules).WithPrefix("user " + user.name + ": "));
  if (user.name.empty()) {
    return Status(Code::kInvalidArgument, "NoName", "a user needs a name");
  }
  std::lock_guard<std::mutex> lock(mutex_);
  by_name_[user.name] = {{user.name, user.groups}, *rules};
  if (!user.token.empty()) {
    name_by_token_[user.token] = user.name;
  }
  return Status::Ok();
}

std::optional<Identity> Auth::IdentityOfToken(const std::string& token) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto name = name_by_token_.find(token);
  if (name == name_by_token_.end()) {
    return std::nullopt;
  }
  Identity identity = by_name_.at(name->second).identity;
  identity.groups.push_back("system:authenticated");
  return identity;
}

std::optional<Identity> Auth::Authenticate(const HttpRequest& request) const {
  const std::string header = request.Header("authorization");
  if (!header.empty()) {
    constexpr std::string_view kBearer = "Bearer ";
    if (header.rfind(kBearer, 0) != 0) {
      return std::nullopt;
    }
    return IdentityOfToken(std::string(host::TrimSpace(header.substr(kBearer.size()))));
  }
  if (!request.certificate_user.empty()) {
    Identity identity{request.certificate_user, request.certificate_groups};
    identity.groups.push_back("system:authenticated");
    return identity;
  }
  if (require_auth_) {
    return std::nullopt;
  }
  return Identity{"system:admin", {kMasters, "system:authenticated"}};
}

std::string Auth::WhyForbidden(const Identity& identity, const AccessQuestion& question) const {
  if (std::find(identity.groups.begin(), identity.groups.end(), kMasters) !=
          identity.groups.end() ||
      AlwaysAllowed(question)) {
    return "";
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto known = by_name_.find(identity.name);
    if (known != by_name_.end()) {
      for (const Json& rule : known->second.rules) {
        if (Allows(rule, question)) {
          return "";
        }
      }
    }
  }
  const std::string user = "User " + host::JsonQuote(identity.name) + " cannot ";
  if (!question.path.empty()) {
    return user + question.verb + " path " + host::JsonQuote(question.path);
  }
  return user + question.verb + " resource " + host::JsonQuote(question.resource) +
         " in API group " + host::JsonQuote(question.group) +
         (question.namespace_name.empty()
              ? " at the cluster scope"
              : " in the namespace " + host::JsonQuote(question.namespace_name));
}

std::string Auth::IssueServiceAccountToken(const std::string& namespace_name,
                                           const std::string& name) {
  const std::string user = "system:serviceaccount:" + namespace_name + ":" + name;
  const std::string token = "sa-" + host::RandomUuid();
  std::lock_guard<std::mutex> lock(mutex_);
  if (by_name_.count(user) == 0) {
    by_name_[user] = {
        {user, {"system:serviceaccounts", "system:serviceaccounts:" + namespace_name}},
        Json::array()};
  }
  name_by_token_[token] = user;
  return token;
}

}  // namespace otc::kubesim
