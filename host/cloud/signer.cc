#include "host/cloud/signer.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "host/base/strings.h"
#include "host/http/url.h"

namespace otc::host::cloud {
namespace {

constexpr std::string_view kScopeEnd = "sdk_request";
constexpr std::string_view kContentHashHeader = "x-sdk-content-sha256";

std::string Hmac(std::string_view key, std::string_view data) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest,
           &size) == nullptr) {
    std::abort();
  }
  return std::string(reinterpret_cast<const char*>(digest), size);
}

std::string_view Day(std::string_view date) { return date.substr(0, 8); }

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) {
    std::abort();
  }
  return HexEncode(std::string_view(reinterpret_cast<const char*>(digest), size));
}

std::string CanonicalPath(std::string_view raw_path) {
  std::string path = http::PercentEncode(http::PercentDecode(raw_path), "/");
  if (path.empty() || path.back() != '/') path += '/';
  return path;
}

std::string CanonicalQuery(std::string_view raw_query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& part : Split(raw_query, '&')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    const std::string_view key = std::string_view(part).substr(0, equals);
    const std::string_view value =
        equals == std::string::npos ? "" : std::string_view(part).substr(equals + 1);
    pairs.emplace_back(http::PercentDecode(key, true), http::PercentDecode(value, true));
  }
  std::sort(pairs.begin(), pairs.end());
  std::string query;
  for (const auto& [key, value] : pairs) {
    if (!query.empty()) query += '&';
    query += http::PercentEncode(key) + '=' + http::PercentEncode(value);
  }
  return query;
}

CanonicalRequest Canonicalise(std::string_view method, std::string_view target,
                              const std::vector<http::Header>& headers, std::string_view body) {
  const std::size_t question = target.find('?');
  const std::string_view query =
      question == std::string_view::npos ? "" : target.substr(question + 1);

  std::vector<std::pair<std::string, std::string_view>> sorted;
  std::string_view declared_hash;
  for (const http::Header& header : headers) {
    sorted.emplace_back(ToLower(header.name), TrimSpace(header.value));
    if (sorted.back().first == kContentHashHeader) declared_hash = sorted.back().second;
  }
  std::sort(sorted.begin(), sorted.end());

  CanonicalRequest result;
  std::string lines;
  for (const auto& [name, value] : sorted) {
    lines += name;
    lines += ':';
    lines += value;
    lines += '\n';
    if (!result.signed_headers.empty()) result.signed_headers += ';';
    result.signed_headers += name;
  }
  std::string& text = result.text;
  for (const char c : method) text += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  text += '\n' + CanonicalPath(target.substr(0, question)) + '\n' + CanonicalQuery(query) + '\n';
  text += lines + '\n' + result.signed_headers + '\n';
  text += declared_hash.empty() ? Sha256Hex(body) : std::string(declared_hash);
  return result;
}

std::string SigningScope(std::string_view date, std::string_view region, std::string_view service) {
  std::string scope(Day(date));
  scope.append("/").append(region).append("/").append(service).append("/").append(kScopeEnd);
  return scope;
}

std::string StringToSign(SignForm form, std::string_view date, std::string_view scope,
                         std::string_view canonical_request) {
  std::string text(kSignatureAlgorithm);
  text.append("\n").append(date).append("\n");
  if (form == SignForm::kCredential) text.append(scope).append("\n");
  return text + Sha256Hex(canonical_request);
}

std::string SigningKey(SignForm form, std::string_view secret_key, std::string_view date,
                       std::string_view region, std::string_view service) {
  if (form == SignForm::kAccess) return std::string(secret_key);
  const std::string day_key = Hmac("SDK" + std::string(secret_key), Day(date));
  return Hmac(Hmac(Hmac(day_key, region), service), kScopeEnd);
}

std::string Signature(std::string_view key, std::string_view string_to_sign) {
  return HexEncode(Hmac(key, string_to_sign));
}

std::string FormatSdkDate(WallTime time) {
  std::string text;  // RFC 3339 without its separators
  for (const char c : FormatRfc3339(time)) {
    if (c != '-' && c != ':') text += c;
  }
  return text;
}

Signer::Signer(const Credentials& credentials, SignForm form, std::string region,
               std::string service)
    : credentials_{std::string(TrimSpace(credentials.access_key)),
                   std::string(TrimSpace(credentials.secret_key)),
                   std::string(TrimSpace(credentials.security_token))},
      form_(form),
      region_(std::move(region)),
      service_(std::move(service)) {}

std::vector<http::Header> Signer::Sign(std::string_view method, std::string_view target,
                                       std::string_view host,
                                       const std::vector<http::Header>& headers,
                                       std::string_view body, WallTime now) const {
  const std::string date = FormatSdkDate(now);
  std::vector<http::Header> added = {{"X-Sdk-Date", date}};
  if (!credentials_.security_token.empty()) {
    added.push_back({"X-Security-Token", credentials_.security_token});
  }
  std::vector<http::Header> to_sign = headers;
  to_sign.insert(to_sign.end(), added.begin(), added.end());
  to_sign.push_back({"Host", std::string(host)});

  const CanonicalRequest canonical = Canonicalise(method, target, to_sign, body);
  const std::string scope = SigningScope(date, region_, service_);
  const std::string key = SigningKey(form_, credentials_.secret_key, date, region_, service_);
  const std::string signature = Signature(key, StringToSign(form_, date, scope, canonical.text));

  std::string authorization(kSignatureAlgorithm);
  authorization += form_ == SignForm::kCredential
                       ? " Credential=" + credentials_.access_key + "/" + scope
                       : " Access=" + credentials_.access_key;
  authorization += ", SignedHeaders=" + canonical.signed_headers + ", Signature=" + signature;
  added.push_back({"Authorization", std::move(authorization)});
  return added;
}

}  // namespace otc::host::cloud
