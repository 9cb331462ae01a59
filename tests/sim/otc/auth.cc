#include "tests/sim/otc/auth.h"

#include <algorithm>
#include <cstdlib>

#include "host/base/strings.h"
#include "tests/sim/otc/errors.h"
#include "tests/sim/otc/signature.h"

namespace otc::sim {
namespace {

constexpr const char* kRefused = "APIGW.0301";

Response Refuse(const std::string& why, const std::string& request_id) {
  return GatewayError(401, kRefused, "Incorrect IAM authentication information: " + why,
                      request_id);
}

bool Contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string PipesForLines(std::string text) {
  std::replace(text.begin(), text.end(), '\n', '|');
  return text;
}

// Whether the request is signed with the key's secret; `canonical` gets the
// gateway's own canonical request, if it could be built.
bool IsSigned(const Request& request, const ParsedAuthorization& parsed, const std::string& date,
              const AccessKey& key, const Behaviour& behaviour, std::string* canonical) {
  if (behaviour.signatures == SignatureMode::kOff || behaviour.Defect("any-signature")) return true;
  if (!Contains(parsed.signed_headers, "x-sdk-date")) return false;
  if (behaviour.Defect("strict-host") && !Contains(parsed.signed_headers, "host")) return false;
  const auto strict = StrictCanonical(request, parsed);
  if (!strict) return false;
  *canonical = *strict;
  if (SignatureMatches(parsed, key.secret, date, *strict)) return true;
  if (behaviour.signatures != SignatureMode::kCompat) return false;
  const auto variants = CompatCanonicals(request, parsed);
  return std::any_of(variants.begin(), variants.end(), [&](const std::string& variant) {
    return SignatureMatches(parsed, key.secret, date, variant);
  });
}

}  // namespace

std::variant<Principal, Response> Authenticator::Check(const Request& request,
                                                       const Behaviour& behaviour,
                                                       const std::string& request_id) {
  const auto authorization = request.FindHeader("Authorization");
  const auto token = request.FindHeader("X-Auth-Token");
  if (authorization && token) {
    return GatewayError(401, "APIGW.0303",
                        "Incorrect authentication information: a token and a signature were sent",
                        request_id);
  }
  if (token) return CheckToken(*token, request_id);
  if (authorization) return CheckSignature(request, *authorization, behaviour, request_id);
  return Refuse("neither a signature nor a token was sent", request_id);
}

std::variant<Principal, Response> Authenticator::CheckToken(const std::string& id,
                                                            const std::string& request_id) {
  const auto token = identity_->FindToken(id);
  if (!token) {
    return GatewayError(401, "APIGW.0307", "The token must be updated: it is unknown or expired",
                        request_id);
  }
  return Principal{Principal::Kind::kToken, "", token->user_id, token->domain_id,
                   token->project_id};
}

std::variant<Principal, Response> Authenticator::CheckSignature(const Request& request,
                                                                const std::string& authorization,
                                                                const Behaviour& behaviour,
                                                                const std::string& request_id) {
  const auto parsed = ParseAuthorization(authorization);
  if (!parsed.ok()) return Refuse(parsed.status().message(), request_id);
  const auto date_text = request.FindHeader("X-Sdk-Date");
  if (!date_text) return Refuse("X-Sdk-Date is missing", request_id);
  const auto date = ParseSdkDate(*date_text);
  if (!date) return Refuse("X-Sdk-Date must be YYYYMMDDTHHMMSSZ", request_id);

  const auto key = identity_->FindAccessKey(parsed->access_key);
  if (!key) {
    return Refuse("Get secretKey failed, ak:" + parsed->access_key + ", err: ak not exist",
                  request_id);
  }
  if (identity_->IsLocked(key->access)) {
    return Refuse("AK access failed to reach the limit, forbidden", request_id);
  }
  if (!key->active) return IamError(400, "IAM.1107", "The access key is inactive");

  const auto skew = std::chrono::abs(time_->Wall() - *date);
  if (skew > std::chrono::seconds(behaviour.clock_window_s)) {
    return Refuse("verify aksk signature fail, signature expired: X-Sdk-Date " + *date_text +
                      " is too far from the gateway's time",
                  request_id);
  }
  const bool scope_fits = parsed->form == host::cloud::SignForm::kAccess ||
                          parsed->scope_date == date_text->substr(0, 8);
  std::string canonical;
  if (!scope_fits || !IsSigned(request, *parsed, *date_text, *key, behaviour, &canonical)) {
    identity_->CountWrongSignature(key->access, static_cast<int>(behaviour.lock_after),
                                   behaviour.lock_ms);
    std::string why = "verify aksk signature fail";
    if (behaviour.canonical_in_error && !canonical.empty()) {
      why += ", canonicalRequest:" + PipesForLines(canonical);
    }
    return Refuse(why, request_id);
  }
  identity_->CountRightSignature(key->access);

  if (!behaviour.Defect("security-token-unchecked") &&
      request.FindHeader("X-Security-Token").value_or("") != key->security_token) {
    return Refuse("the security token does not belong to the access key", request_id);
  }
  if (key->expires_at && *key->expires_at <= time_->Wall()) {
    return IamError(400, "IAM.1108", "The security token has expired");
  }
  return Principal{Principal::Kind::kSignature, key->access, key->user_id, key->domain_id, ""};
}

}  // namespace otc::sim
