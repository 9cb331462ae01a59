#include "tests/sim/otc/signature.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <utility>

#include "host/base/strings.h"
#include "host/http/url.h"

namespace otc::sim {
namespace {

using host::cloud::SignForm;

Status Malformed(const std::string& what) {
  return Status(Code::kInvalidArgument, "MalformedAuthorization", what);
}

bool TakePrefix(std::string_view* text, std::string_view prefix) {
  if (text->substr(0, prefix.size()) != prefix) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// The listed headers with their values; nothing if one was not sent.
std::optional<std::vector<Header>> SignedHeaders(const Request& request,
                                                 const ParsedAuthorization& authorization) {
  std::vector<Header> headers;
  for (const std::string& name : authorization.signed_headers) {
    const auto value = request.FindHeader(name);
    if (!value) return std::nullopt;
    headers.push_back({name, *value});
  }
  return headers;
}

std::string FoldBlanks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ' ' && !out.empty() && out.back() == ' ') continue;
    out += c;
  }
  return out;
}

// One pair a key, its first value; keys sorted without regard to case.
std::string FirstValuesQuery(const Request& request) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::set<std::string> seen;
  for (const auto& [key, value] : request.QueryPairs()) {
    if (!seen.insert(key).second) continue;
    pairs.emplace_back(host::http::PercentEncode(key), host::http::PercentEncode(value));
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return host::ToLower(a.first) < host::ToLower(b.first);
  });
  std::string query;
  for (const auto& [key, value] : pairs) query += (query.empty() ? "" : "&") + key + "=" + value;
  return query;
}

// The canonical request with another third line (query) and body hash.
std::string Rebuild(const std::string& canonical, const std::string& query,
                    const std::string& body_hash) {
  std::vector<std::string> lines = host::Split(canonical, '\n');
  lines[2] = query;
  lines.back() = body_hash;
  return host::Join(lines, "\n");
}

}  // namespace

Result<ParsedAuthorization> ParseAuthorization(std::string_view header) {
  ParsedAuthorization parsed;
  if (!TakePrefix(&header, std::string(host::cloud::kSignatureAlgorithm) + " ")) {
    return Malformed("the algorithm is not SDK-HMAC-SHA256");
  }
  std::vector<std::string_view> parts;
  for (std::size_t at = header.find(", "); at != std::string_view::npos; at = header.find(", ")) {
    parts.push_back(header.substr(0, at));
    header.remove_prefix(at + 2);
  }
  parts.push_back(header);
  if (parts.size() != 3) return Malformed("three parts separated by ', ' are needed");

  if (TakePrefix(&parts[0], "Credential=")) {
    parsed.form = SignForm::kCredential;
    const auto scope = host::Split(parts[0], '/');
    if (scope.size() != 5 || scope[4] != "sdk_request") {
      return Malformed("Credential must be <AK>/<date>/<region>/<service>/sdk_request");
    }
    parsed.access_key = scope[0];
    parsed.scope_date = scope[1];
    parsed.region = scope[2];
    parsed.service = scope[3];
  } else if (TakePrefix(&parts[0], "Access=")) {
    parsed.access_key = parts[0];
  } else {
    return Malformed("neither Credential= nor Access=");
  }
  if (!TakePrefix(&parts[1], "SignedHeaders=") || parts[1].empty()) {
    return Malformed("SignedHeaders is missing");
  }
  parsed.signed_headers = host::Split(parts[1], ';');
  if (!TakePrefix(&parts[2], "Signature=") || parts[2].empty()) {
    return Malformed("Signature is missing");
  }
  parsed.signature = parts[2];
  return parsed;
}

std::optional<host::WallTime> ParseSdkDate(std::string_view text) {
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t length) {
    return host::ParseUint(text.substr(at, length));
  };
  const auto year = number(0, 4), month = number(4, 2), day = number(6, 2), hour = number(9, 2),
             minute = number(11, 2), second = number(13, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  if (*month < 1 || *month > 12 || *day < 1 || *day > 31 || *hour > 23 || *minute > 59 ||
      *second > 59) {
    return std::nullopt;
  }
  std::tm parts{};
  parts.tm_year = static_cast<int>(*year) - 1900;
  parts.tm_mon = static_cast<int>(*month) - 1;
  parts.tm_mday = static_cast<int>(*day);
  parts.tm_hour = static_cast<int>(*hour);
  parts.tm_min = static_cast<int>(*minute);
  parts.tm_sec = static_cast<int>(*second);
  return host::WallFromUnixMillis(static_cast<std::int64_t>(timegm(&parts)) * 1000);
}

std::optional<std::string> StrictCanonical(const Request& request,
                                           const ParsedAuthorization& authorization) {
  const auto headers = SignedHeaders(request, authorization);
  if (!headers) return std::nullopt;
  const auto canonical =
      host::cloud::Canonicalise(request.method, request.target, *headers, request.body);
  if (canonical.signed_headers != host::Join(authorization.signed_headers, ";")) {
    return std::nullopt;
  }
  return canonical.text;
}

std::vector<std::string> CompatCanonicals(const Request& request,
                                          const ParsedAuthorization& authorization) {
  const auto strict = StrictCanonical(request, authorization);
  if (!strict) return {};
  const std::string hash = strict->substr(strict->rfind('\n') + 1);
  const std::string query = FirstValuesQuery(request);
  std::vector<std::string> variants = {Rebuild(*strict, query, hash)};
  if (request.method == "POST" && request.body.empty() && !query.empty()) {
    variants.push_back(Rebuild(*strict, "", host::cloud::Sha256Hex(query)));
  }
  auto headers = *SignedHeaders(request, authorization);
  for (auto& header : headers) header.value = FoldBlanks(header.value);
  variants.push_back(
      host::cloud::Canonicalise(request.method, request.target, headers, request.body).text);
  return variants;
}

bool SignatureMatches(const ParsedAuthorization& authorization, std::string_view secret_key,
                      std::string_view date, std::string_view canonical) {
  const std::string scope =
      host::cloud::SigningScope(date, authorization.region, authorization.service);
  const std::string key = host::cloud::SigningKey(authorization.form, secret_key, date,
                                                  authorization.region, authorization.service);
  const std::string expected = host::cloud::Signature(
      key, host::cloud::StringToSign(authorization.form, date, scope, canonical));
  return expected.size() == authorization.signature.size() &&
         CRYPTO_memcmp(expected.data(), authorization.signature.data(), expected.size()) == 0;
}

}  // namespace otc::sim
