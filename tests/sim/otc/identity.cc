#include "tests/sim/otc/identity.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace otc::sim {
namespace {

constexpr auto kTokenLife = std::chrono::hours(24);
constexpr std::size_t kTokensKept = 4096;

template <typename T, typename Predicate>
std::optional<T> FindIn(const std::vector<T>& list, Predicate predicate) {
  const auto it = std::find_if(list.begin(), list.end(), predicate);
  return it == list.end() ? std::nullopt : std::optional<T>(*it);
}

// Replaces the entry of the same id, else appends.
template <typename T>
void Upsert(std::vector<T>* list, T value) {
  for (T& entry : *list) {
    if (entry.id == value.id) {
      entry = std::move(value);
      return;
    }
  }
  list->push_back(std::move(value));
}

}  // namespace

Identity::Identity(const SimTime* time, std::uint64_t seed, std::string region)
    : time_(time), seed_(seed), region_(std::move(region)) {
  ResetLocked();
}

void Identity::Reset() {
  std::lock_guard lock(mutex_);
  ResetLocked();
}

void Identity::ResetLocked() {
  random_.seed(seed_ ^ 0x1dU);
  domains_ = {{kDomainId, kDomainName}};
  projects_ = {{kProjectId, region_, kDomainId, true}};
  users_ = {{kUserId, kUserName, kUserPassword, kDomainId}};
  keys_.clear();
  keys_[kAccessKey] = {kAccessKey, kSecretKey, kUserId, kDomainId, true, "", std::nullopt};
  tokens_.clear();
  strikes_.clear();
}

void Identity::Clear() {
  std::lock_guard lock(mutex_);
  domains_.clear();
  projects_.clear();
  users_.clear();
  keys_.clear();
  tokens_.clear();
  strikes_.clear();
}

std::string Identity::NewHexLocked() {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(random_()),
                static_cast<unsigned long long>(random_()));
  return text;
}

void Identity::AddDomain(Domain domain) {
  std::lock_guard lock(mutex_);
  if (domain.id.empty()) domain.id = NewHexLocked();
  Upsert(&domains_, std::move(domain));
}

void Identity::AddProject(Project project) {
  std::lock_guard lock(mutex_);
  if (project.id.empty()) project.id = NewHexLocked();
  Upsert(&projects_, std::move(project));
}

void Identity::AddUser(User user) {
  std::lock_guard lock(mutex_);
  if (user.id.empty()) user.id = NewHexLocked();
  Upsert(&users_, std::move(user));
}

void Identity::AddAccessKey(AccessKey key) {
  std::lock_guard lock(mutex_);
  std::string access = key.access;
  strikes_.erase(access);
  keys_[std::move(access)] = std::move(key);
}

std::vector<Domain> Identity::Domains() const {
  std::lock_guard lock(mutex_);
  return domains_;
}

std::vector<Project> Identity::Projects() const {
  std::lock_guard lock(mutex_);
  return projects_;
}

std::optional<Domain> Identity::FindDomain(const std::string& id_or_name) const {
  std::lock_guard lock(mutex_);
  return FindIn(domains_, [&](const Domain& domain) {
    return domain.id == id_or_name || domain.name == id_or_name;
  });
}

std::optional<Project> Identity::FindProject(const std::string& id) const {
  std::lock_guard lock(mutex_);
  return FindIn(projects_, [&](const Project& project) { return project.id == id; });
}

std::optional<Project> Identity::FindProjectByName(const std::string& name,
                                                   const std::string& domain_id) const {
  std::lock_guard lock(mutex_);
  return FindIn(projects_, [&](const Project& project) {
    return project.name == name && project.domain_id == domain_id;
  });
}

std::optional<User> Identity::FindUser(const std::string& id) const {
  std::lock_guard lock(mutex_);
  return FindIn(users_, [&](const User& user) { return user.id == id; });
}

std::optional<User> Identity::FindUserByName(const std::string& name,
                                             const std::string& domain_id) const {
  std::lock_guard lock(mutex_);
  return FindIn(users_,
                [&](const User& user) { return user.name == name && user.domain_id == domain_id; });
}

std::optional<AccessKey> Identity::FindAccessKey(const std::string& access) const {
  std::lock_guard lock(mutex_);
  const auto it = keys_.find(access);
  return it == keys_.end() ? std::nullopt : std::optional<AccessKey>(it->second);
}

std::optional<Project> Identity::DefaultProject(const std::string& domain_id) const {
  return FindProjectByName(region_, domain_id);
}

Token Identity::IssueToken(const User& user, const std::string& project_id) {
  std::lock_guard lock(mutex_);
  if (tokens_.size() >= kTokensKept) tokens_.erase(tokens_.begin());
  Token token;
  token.id = "gTok" + NewHexLocked() + NewHexLocked();
  token.user_id = user.id;
  token.domain_id = user.domain_id;
  token.project_id = project_id;
  token.issued_at = time_->Wall();
  token.expires_at = token.issued_at + kTokenLife;
  tokens_[token.id] = token;
  return token;
}

std::optional<Token> Identity::FindToken(const std::string& id) const {
  std::lock_guard lock(mutex_);
  const auto it = tokens_.find(id);
  if (it == tokens_.end() || it->second.expires_at <= time_->Wall()) return std::nullopt;
  return it->second;
}

void Identity::ForgetTokens() {
  std::lock_guard lock(mutex_);
  tokens_.clear();
}

AccessKey Identity::IssueTemporaryKey(const std::string& user_id, const std::string& domain_id,
                                      std::int64_t duration_s) {
  std::lock_guard lock(mutex_);
  AccessKey key;
  key.access = "ASIA" + NewHexLocked().substr(0, 16);
  key.secret = NewHexLocked() + NewHexLocked().substr(0, 8);
  key.security_token = "gQtSim" + NewHexLocked() + NewHexLocked() + "==";
  key.user_id = user_id;
  key.domain_id = domain_id;
  key.expires_at = time_->Wall() + std::chrono::seconds(duration_s);
  keys_[key.access] = key;
  return key;
}

void Identity::SetAccessKeyActive(const std::string& access, bool active) {
  std::lock_guard lock(mutex_);
  const auto it = keys_.find(access);
  if (it != keys_.end()) it->second.active = active;
}

bool Identity::IsLocked(const std::string& access) const {
  std::lock_guard lock(mutex_);
  const auto it = strikes_.find(access);
  return it != strikes_.end() && time_->Mono() < it->second.locked_until;
}

void Identity::CountWrongSignature(const std::string& access, int lock_after,
                                   std::int64_t lock_ms) {
  std::lock_guard lock(mutex_);
  Strikes& strikes = strikes_[access];
  if (++strikes.wrong_in_a_row < lock_after) return;
  strikes.wrong_in_a_row = 0;
  strikes.locked_until = time_->Mono() + std::chrono::milliseconds(lock_ms);
}

void Identity::CountRightSignature(const std::string& access) {
  std::lock_guard lock(mutex_);
  strikes_.erase(access);
}

}  // namespace otc::sim
