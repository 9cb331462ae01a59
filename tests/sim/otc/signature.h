// Parsing and checking of one AK/SK signature, without any account: the header
// in either form, the canonical request, the variants of compatibility mode.
// Pure functions.
#ifndef OTC_TESTS_SIM_OTC_SIGNATURE_H_
#define OTC_TESTS_SIM_OTC_SIGNATURE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/cloud/signer.h"
#include "tests/sim/otc/http_types.h"

namespace otc::sim {

struct ParsedAuthorization {
  host::cloud::SignForm form = host::cloud::SignForm::kAccess;
  std::string access_key;
  std::string scope_date, region, service;  // Credential form
  std::vector<std::string> signed_headers;  // as listed
  std::string signature;
};

// Separators are exactly one comma and one blank; the error says what is wrong.
Result<ParsedAuthorization> ParseAuthorization(std::string_view header);

// "20250102T030405Z" -> time; nothing if it is anything else.
std::optional<host::WallTime> ParseSdkDate(std::string_view text);

// The canonical request by signing.md section 2, or nothing if a listed header
// was not sent or the list is not lower case and sorted.
std::optional<std::string> StrictCanonical(const Request& request,
                                           const ParsedAuthorization& authorization);
// Those of known client variants: first value only of a repeated key, keys
// sorted without case, query in the body hash, folded header values.
std::vector<std::string> CompatCanonicals(const Request& request,
                                          const ParsedAuthorization& authorization);

bool SignatureMatches(const ParsedAuthorization& authorization, std::string_view secret_key,
                      std::string_view date, std::string_view canonical);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_SIGNATURE_H_
