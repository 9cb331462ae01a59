#include "host/ops/access.h"

#include <Poco/Dynamic/Var.h>
#include <Poco/Exception.h>
#include <Poco/JSON/Array.h>
#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>
#include <openssl/sha.h>

#include "host/base/strings.h"

namespace otc::host::ops {
namespace {

constexpr std::size_t kMaxCached = 1024;
constexpr Duration kReviewTimeout = std::chrono::seconds(10);

// Tokens are secrets: the cache keeps their digest only.
std::string Digest(const std::string& token) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest);
  return std::string(reinterpret_cast<const char*>(digest), sizeof(digest));
}

Poco::JSON::Object::Ptr StatusOf(const std::string& body) {
  Poco::JSON::Parser parser;
  const auto object = parser.parse(body).extract<Poco::JSON::Object::Ptr>();
  const auto status = object->getObject("status");
  return status ? status : Poco::JSON::Object::Ptr(new Poco::JSON::Object);
}

Result<kube::RawResponse> PostReview(kube::KubeApi& api, Clock& clock, const std::string& path,
                                     const std::string& body) {
  CallContext context;
  context.clock = &clock;
  context.deadline = clock.Now() + kReviewTimeout;
  kube::RawRequest request;
  request.method = "POST";
  request.path = path;
  request.content_type = "application/json";
  request.body = body;
  return api.Call(request, context);
}

}  // namespace

AccessReviewer::AccessReviewer(AccessOptions options, kube::KubeApi* authentication,
                               kube::KubeApi* authorization, Clock& clock, Log& log)
    : options_(std::move(options)),
      authentication_(authentication),
      authorization_(authorization),
      clock_(clock),
      log_(log) {}

bool AccessReviewer::AlwaysAllowed(const std::string& path) const {
  for (const std::string& pattern : options_.always_allow_paths) {
    if (pattern == path) return true;
    if (!pattern.empty() && pattern.back() == '*' &&
        path.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0) {
      return true;
    }
  }
  return false;
}

Response AccessReviewer::Judge(const Request& request) {
  User user{false, "system:anonymous", "", {"system:unauthenticated"}};
  if (request.malformed_authorization) return {401, kPlainText, "Unauthorized\n"};
  if (!request.bearer_token.empty()) {
    user = Authenticate(request.bearer_token);
    if (!user.authenticated) return {401, kPlainText, "Unauthorized\n"};
  }
  if (AlwaysAllowed(request.path)) return {200, kPlainText, ""};
  const std::string verb = ToLower(request.method);
  if (Authorize(user, verb, request.path)) return {200, kPlainText, ""};
  return {
      403, kPlainText,
      "Forbidden: user \"" + user.name + "\" cannot " + verb + " path \"" + request.path + "\"\n"};
}

AccessReviewer::User AccessReviewer::Authenticate(const std::string& token) {
  const std::string key = Digest(token);
  {
    std::lock_guard lock(mutex_);
    const auto it = users_.find(key);
    if (it != users_.end() && clock_.Now() < it->second.until) return it->second.user;
  }
  if (authentication_ == nullptr) return {};
  const std::string body =
      R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":)" +
      JsonQuote(token) + "}}";
  const auto answer =
      PostReview(*authentication_, clock_, "/apis/authentication.k8s.io/v1/tokenreviews", body);
  if (!answer.ok()) {
    log_.Warn("token review failed", {{"error", answer.status()}});
    return {};
  }
  User user;
  try {
    const auto status = StatusOf(answer->body);
    user.authenticated = status->optValue("authenticated", false);
    if (const auto identity = status->getObject("user")) {
      user.name = identity->optValue<std::string>("username", "");
      user.uid = identity->optValue<std::string>("uid", "");
      if (const auto groups = identity->getArray("groups")) {
        for (std::size_t i = 0; i < groups->size(); ++i) {
          user.groups.push_back(groups->getElement<std::string>(static_cast<unsigned>(i)));
        }
      }
    }
  } catch (const Poco::Exception& e) {
    log_.Warn("token review answered something else", {{"error", e.displayText()}});
    return {};
  }
  std::lock_guard lock(mutex_);
  if (users_.size() >= kMaxCached) users_.clear();
  users_[key] = {user, clock_.Now() + options_.token_ttl};
  return user;
}

bool AccessReviewer::Authorize(const User& user, const std::string& verb, const std::string& path) {
  const std::string key = user.name + "\n" + verb + "\n" + path;
  {
    std::lock_guard lock(mutex_);
    const auto it = verdicts_.find(key);
    if (it != verdicts_.end() && clock_.Now() < it->second.until) return it->second.allowed;
  }
  const bool allowed = ReviewAccess(user, verb, path);
  std::lock_guard lock(mutex_);
  if (verdicts_.size() >= kMaxCached) verdicts_.clear();
  verdicts_[key] = {allowed, clock_.Now() + (allowed ? options_.allowed_ttl : options_.denied_ttl)};
  return allowed;
}

bool AccessReviewer::ReviewAccess(const User& user, const std::string& verb,
                                  const std::string& path) {
  for (const std::string& group : user.groups) {
    if (group == "system:masters") return true;
  }
  if (authorization_ == nullptr) return false;
  std::vector<std::string> groups;
  for (const std::string& group : user.groups) groups.push_back(JsonQuote(group));
  const std::string body =
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":)" +
      JsonQuote(user.name) + ",\"uid\":" + JsonQuote(user.uid) + ",\"groups\":[" +
      Join(groups, ",") + "],\"nonResourceAttributes\":{\"path\":" + JsonQuote(path) +
      ",\"verb\":" + JsonQuote(verb) + "}}}";
  const auto answer = PostReview(*authorization_, clock_,
                                 "/apis/authorization.k8s.io/v1/subjectaccessreviews", body);
  if (!answer.ok()) {
    log_.Warn("access review failed", {{"error", answer.status()}});
    return false;
  }
  try {
    return StatusOf(answer->body)->optValue("allowed", false);
  } catch (const Poco::Exception& e) {
    log_.Warn("access review answered something else", {{"error", e.displayText()}});
    return false;
  }
}

}  // namespace otc::host::ops
