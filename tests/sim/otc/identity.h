// Identity: accounts of the simulated cloud: domains, projects, users, access
// keys (permanent and temporary), tokens, and the lock of a key after too many
// wrong signatures.
//
// Thread-safe; owned by Simulator.
#ifndef OTC_TESTS_SIM_OTC_IDENTITY_H_
#define OTC_TESTS_SIM_OTC_IDENTITY_H_

#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/sim/otc/sim_time.h"

namespace otc::sim {

struct Domain {
  std::string id;
  std::string name;
};

struct Project {
  std::string id;
  std::string name;  // "eu-de", "eu-de_prod"
  std::string domain_id;
  bool enabled = true;
};

struct User {
  std::string id;
  std::string name;
  std::string password;
  std::string domain_id;
};

struct AccessKey {
  std::string access;
  std::string secret;
  std::string user_id;
  std::string domain_id;
  bool active = true;
  std::string security_token;                // empty: permanent
  std::optional<host::WallTime> expires_at;  // temporary keys
};

struct Token {
  std::string id;
  std::string user_id;
  std::string domain_id;   // of the user
  std::string project_id;  // scope; empty: domain scope or none
  host::WallTime issued_at{};
  host::WallTime expires_at{};
};

class Identity {
 public:
  Identity(const SimTime* time, std::uint64_t seed, std::string region);

  // Back to the standard account (docs/reference/otc-sim.md): one domain, the
  // project named like the region, one user, one access key.
  void Reset();
  // Drops the standard account too, for a start-up file that brings its own.
  void Clear();

  void AddDomain(Domain domain);
  void AddProject(Project project);
  void AddUser(User user);
  void AddAccessKey(AccessKey key);

  std::vector<Domain> Domains() const;
  std::vector<Project> Projects() const;
  std::optional<Domain> FindDomain(const std::string& id_or_name) const;
  std::optional<Project> FindProject(const std::string& id) const;
  std::optional<Project> FindProjectByName(const std::string& name,
                                           const std::string& domain_id) const;
  std::optional<User> FindUser(const std::string& id) const;
  std::optional<User> FindUserByName(const std::string& name, const std::string& domain_id) const;
  std::optional<AccessKey> FindAccessKey(const std::string& access) const;
  // The project that the region's default is, in this domain.
  std::optional<Project> DefaultProject(const std::string& domain_id) const;

  Token IssueToken(const User& user, const std::string& project_id);
  // Unexpired ones only.
  std::optional<Token> FindToken(const std::string& id) const;
  void ForgetTokens();
  AccessKey IssueTemporaryKey(const std::string& user_id, const std::string& domain_id,
                              std::int64_t duration_s);
  void SetAccessKeyActive(const std::string& access, bool active);

  // The lock: true while `access` may not be used.
  bool IsLocked(const std::string& access) const;
  void CountWrongSignature(const std::string& access, int lock_after, std::int64_t lock_ms);
  void CountRightSignature(const std::string& access);

 private:
  void ResetLocked();
  std::string NewHexLocked();

  struct Strikes {
    int wrong_in_a_row = 0;
    host::MonoTime locked_until{};
  };

  const SimTime* time_;
  const std::uint64_t seed_;
  const std::string region_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<Domain> domains_;
  std::vector<Project> projects_;
  std::vector<User> users_;
  std::map<std::string, AccessKey> keys_;
  std::map<std::string, Token> tokens_;
  std::map<std::string, Strikes> strikes_;
};

// The standard account.
inline constexpr char kDomainId[] = "d0000000000000000000000000000001";
inline constexpr char kDomainName[] = "OTC00000000001000000001";
inline constexpr char kProjectId[] = "0123456789abcdef0123456789abcdef";
inline constexpr char kUserId[] = "c0000000000000000000000000000001";
inline constexpr char kUserName[] = "sim-user";
inline constexpr char kUserPassword[] = "sim-password";
inline constexpr char kAccessKey[] = "AKSIM000000000000001";
inline constexpr char kSecretKey[] = "SkSim0123456789abcdefghijklmnopqrstuvwx1";

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_IDENTITY_H_
