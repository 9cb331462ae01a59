// Authenticator: the gateway's check of who calls: AK/SK signatures (both header
// forms, signing.md section 2, canonicalised by the same code as our signer,
// which official signers are held against in tests/interop) and tokens.
//
// Thread-safe. Says yes with a Principal or no with the whole error response.
#ifndef OTC_TESTS_SIM_OTC_AUTH_H_
#define OTC_TESTS_SIM_OTC_AUTH_H_

#include <string>
#include <variant>

#include "tests/sim/otc/behaviour.h"
#include "tests/sim/otc/http_types.h"
#include "tests/sim/otc/identity.h"

namespace otc::sim {

struct Principal {
  enum class Kind { kNone, kSignature, kToken };
  Kind kind = Kind::kNone;
  std::string access_key;  // signature
  std::string user_id;
  std::string domain_id;
  std::string project_id;  // the token's scope; empty with signatures
};

class Authenticator {
 public:
  Authenticator(Identity* identity, const SimTime* time) : identity_(identity), time_(time) {}

  std::variant<Principal, Response> Check(const Request& request, const Behaviour& behaviour,
                                          const std::string& request_id);

 private:
  std::variant<Principal, Response> CheckSignature(const Request& request,
                                                   const std::string& authorization,
                                                   const Behaviour& behaviour,
                                                   const std::string& request_id);
  std::variant<Principal, Response> CheckToken(const std::string& token,
                                               const std::string& request_id);

  Identity* identity_;
  const SimTime* time_;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_AUTH_H_
