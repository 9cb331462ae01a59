// AK/SK request signing of OTC (SDK-HMAC-SHA256).
//
// Two layers. The pure functions turn a request into the canonical request, the
// string to sign and the signature; a verifier (otc-sim) uses the same ones on
// what it received. Signer puts them together for the sending side.
//
// No state, no clock of its own: the caller reads the time once for each attempt
// (a retry is signed anew). Nothing here fails; OpenSSL's one-shot digests abort
// the process only if it is out of memory.
#ifndef OTC_HOST_CLOUD_SIGNER_H_
#define OTC_HOST_CLOUD_SIGNER_H_

#include <string>
#include <string_view>
#include <vector>

#include "host/base/clock.h"
#include "host/http/client.h"

namespace otc::host::cloud {

inline constexpr std::string_view kSignatureAlgorithm = "SDK-HMAC-SHA256";

// kCredential derives the key from date, region and service and is what OTC's
// own clients use (with empty region and service); kAccess signs with the key
// itself and is the only form of the sibling cloud's SDKs.
enum class SignForm { kCredential, kAccess };

struct CanonicalRequest {
  std::string text;
  std::string signed_headers;  // "host;x-sdk-date"
};

// `target` is path and query exactly as on the wire. `headers` are those that
// are signed, in any order and case; a value of X-Sdk-Content-Sha256 among them
// stands in for the hash of `body`.
CanonicalRequest Canonicalise(std::string_view method, std::string_view target,
                              const std::vector<http::Header>& headers, std::string_view body);

// The two halves of a target in canonical form. A path gets a slash at its end
// (for signing only, never on the wire).
std::string CanonicalPath(std::string_view raw_path);
std::string CanonicalQuery(std::string_view raw_query);

// Day, region, service and the fixed last part of the Credential form.
std::string SigningScope(std::string_view date, std::string_view region, std::string_view service);

// `scope` is used by the Credential form only. `date` as in X-Sdk-Date.
std::string StringToSign(SignForm form, std::string_view date, std::string_view scope,
                         std::string_view canonical_request);

// The HMAC key, raw bytes: derived (Credential form) or the secret key itself.
std::string SigningKey(SignForm form, std::string_view secret_key, std::string_view date,
                       std::string_view region, std::string_view service);

// Lower-case hexadecimal.
std::string Signature(std::string_view key, std::string_view string_to_sign);
std::string Sha256Hex(std::string_view bytes);

// "20250102T030405Z"
std::string FormatSdkDate(WallTime time);

struct Credentials {
  std::string access_key;
  std::string secret_key;
  std::string security_token;  // empty unless temporary

  friend bool operator==(const Credentials&, const Credentials&) = default;
};

class Signer {
 public:
  // Blanks around the keys are dropped: files with a final newline are common.
  Signer(const Credentials& credentials, SignForm form, std::string region = "",
         std::string service = "");

  // The headers that turn the request into a signed one: X-Sdk-Date,
  // X-Security-Token (temporary keys only) and Authorization. Signed are `host`,
  // those two, and all of `headers`, so pass only what nothing on the way changes.
  std::vector<http::Header> Sign(std::string_view method, std::string_view target,
                                 std::string_view host, const std::vector<http::Header>& headers,
                                 std::string_view body, WallTime now) const;

  const Credentials& credentials() const { return credentials_; }

 private:
  Credentials credentials_;
  SignForm form_;
  std::string region_;
  std::string service_;
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_SIGNER_H_
