#include "host/cloud/request_builder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/base/strings.h"
#include "host/http/url.h"

namespace otc::host::cloud {
namespace {

using plugin::v1::CloudRequest;

constexpr std::string_view kProjectPlaceholder = "{project_id}";
constexpr std::size_t kMaxTargetBytes = 32u << 10;       // of the gateway
constexpr std::size_t kMaxHeaderBytes = 32u << 10;       // of the gateway, all of them together
constexpr std::size_t kMaxBodyBytes = 12u << 20;         // of the gateway
constexpr std::uint64_t kDefaultAnswerBytes = 4u << 20;  // of the plugin ABI
constexpr std::uint64_t kMaxAnswerBytes = 64u << 20;     // of the plugin ABI, all records
constexpr std::size_t kMaxPurposeBytes = 64;
constexpr Duration kDefaultTimeout = std::chrono::seconds(30);

// Set by the host, the HTTP client or the signature.
constexpr std::array<std::string_view, 14> kReservedHeaders = {"authorization",
                                                               "connection",
                                                               "content-length",
                                                               "expect",
                                                               "host",
                                                               "proxy-authorization",
                                                               "te",
                                                               "transfer-encoding",
                                                               "upgrade",
                                                               "x-auth-token",
                                                               "x-project-id",
                                                               "x-sdk-content-sha256",
                                                               "x-sdk-date",
                                                               "x-security-token"};

bool IsIn(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }
bool IsAlnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

Status Bad(std::string message) {
  return Status(Code::kInvalidArgument, "BadRequest", std::move(message));
}

std::string WithoutPlaceholder(std::string path) {
  for (auto at = path.find(kProjectPlaceholder); at != std::string::npos;
       at = path.find(kProjectPlaceholder)) {
    path.replace(at, kProjectPlaceholder.size(), "p");
  }
  return path;
}

Status CheckPath(const std::string& path) {
  const std::string shown = "path " + JsonQuote(path.substr(0, 200)) + ": ";
  if (path.empty() || path.front() != '/') return Bad(shown + "must begin with '/'");
  const std::string plain = WithoutPlaceholder(path);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    if (c == '%') {
      if (i + 2 >= plain.size() || !IsHex(plain[i + 1]) || !IsHex(plain[i + 2])) {
        return Bad(shown + "'%' must be followed by two hexadecimal digits");
      }
    } else if (!IsAlnum(c) && !IsIn(c, "/-._~!$&'()*+,;=:@")) {
      return Bad(shown +
                 "holds a character that must be percent-encoded (a query belongs into `query`, "
                 "and the only placeholder is {project_id})");
    }
  }
  for (const std::string& segment : Split(plain, '/')) {
    if (segment == "." || segment == "..") return Bad(shown + "holds a segment of dots");
  }
  return Status::Ok();
}

Status CheckHeaders(const CloudRequest& request) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : request.headers()) {
    const std::string shown = "header " + JsonQuote(name.substr(0, 100)) + ": ";
    bytes += name.size() + value.size() + 4;
    if (name.empty() || !std::all_of(name.begin(), name.end(), [](char c) {
          return IsAlnum(c) || IsIn(c, "!#$%&'*+-.^_`|~");
        })) {
      return Bad(shown + "is no header name");
    }
    if (std::any_of(value.begin(), value.end(),
                    [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; })) {
      return Bad(shown + "the value holds control characters");
    }
    if (std::find(kReservedHeaders.begin(), kReservedHeaders.end(), ToLower(name)) !=
        kReservedHeaders.end()) {
      return Bad(shown + "is set by the host; leave it out");
    }
  }
  if (bytes > kMaxHeaderBytes) return Bad("headers: more than 32 KiB");
  return Status::Ok();
}

Status CheckMethod(const CloudRequest& request) {
  const std::string& method = request.method();
  const bool never_reads = method == "PUT" || method == "PATCH" || method == "DELETE";
  if (!never_reads && method != "GET" && method != "HEAD" && method != "POST") {
    return Bad("method " + JsonQuote(method.substr(0, 20)) +
               ": allowed are GET, HEAD, POST, PUT, PATCH and DELETE");
  }
  if (never_reads && !IsWrite(request)) return Bad(method + " cannot have the effect READ");
  if (request.service() == "metadata" && (IsWrite(request) || method == "POST")) {
    return Bad("service metadata is read only: GET with the effect READ");
  }
  if (method == "POST" && request.body().empty() && request.query_size() > 0) {
    return Bad("a POST with a query needs a body: clients sign it differently; send {}");
  }
  if (request.max_age_ms() != 0 && IsWrite(request)) {
    return Bad("max_age_ms is for the effect READ only");
  }
  return Status::Ok();
}

MethodGroup GroupOf(const CloudRequest& request) {
  if (!IsWrite(request)) return MethodGroup::kGet;
  const std::string& method = request.method();
  if (method == "GET" || method == "HEAD") return MethodGroup::kGet;
  // PATCH is not repeatable by its definition.
  return method == "PUT" || method == "DELETE" ? MethodGroup::kPutDelete : MethodGroup::kPost;
}

std::string BuildTarget(const CloudRequest& request, const Endpoint& endpoint,
                        const std::string& project_id) {
  std::string path = request.path();
  for (auto at = path.find(kProjectPlaceholder); at != std::string::npos;
       at = path.find(kProjectPlaceholder, at)) {
    path.replace(at, kProjectPlaceholder.size(), project_id);
    at += project_id.size();
  }
  std::vector<std::pair<std::string, std::string>> parameters;
  for (const auto& pair : request.query()) parameters.emplace_back(pair.key(), pair.value());
  std::string target = endpoint.base.prefix + path;
  if (!parameters.empty()) target += "?" + http::BuildQuery(parameters);
  return target;
}

bool HasHeader(const std::vector<http::Header>& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(), [&](const http::Header& header) {
    return EqualsIgnoreCase(header.name, name);
  });
}

}  // namespace

bool IsWrite(const CloudRequest& request) { return request.effect() != plugin::v1::EFFECT_READ; }

Status CheckRequest(const CloudRequest& request) {
  OTC_RETURN_IF_ERROR(CheckMethod(request));
  OTC_RETURN_IF_ERROR(CheckPath(request.path()));
  OTC_RETURN_IF_ERROR(CheckHeaders(request));
  std::size_t target = request.path().size();
  for (const auto& pair : request.query()) {
    if (pair.key().empty()) return Bad("query: a key is empty");
    target += 3 * (pair.key().size() + pair.value().size()) + 2;
  }
  if (target > kMaxTargetBytes) return Bad("path and query: more than 32 KiB");
  if (request.body().size() > kMaxBodyBytes) return Bad("body: more than 12 MiB");
  return Status::Ok();
}

bool NeedsProject(const CloudRequest& request, const Endpoint& endpoint) {
  return endpoint.project_scoped ||
         (endpoint.is_signed && request.path().find(kProjectPlaceholder) != std::string::npos);
}

BuiltRequest BuildRequest(const CloudRequest& request, const Endpoint& endpoint,
                          const std::string& project_id) {
  BuiltRequest built;
  built.service = request.service();
  built.path = request.path();
  built.purpose = request.purpose().substr(0, kMaxPurposeBytes);
  built.is_signed = endpoint.is_signed;
  built.write = IsWrite(request);
  built.idempotent = request.idempotent();
  built.group = GroupOf(request);
  built.timeout =
      request.timeout_ms() == 0 ? kDefaultTimeout : std::chrono::milliseconds(request.timeout_ms());

  http::Request& http = built.http;
  http.method = request.method();
  http.origin = endpoint.base.origin;
  http.target = BuildTarget(request, endpoint, project_id);
  http.host_header = endpoint.base.origin.HostHeader();
  http.body = request.body();
  http.max_response_bytes =
      request.max_response_bytes() == 0
          ? kDefaultAnswerBytes
          : std::min<std::uint64_t>(request.max_response_bytes(), kMaxAnswerBytes);
  for (const auto& [name, value] : request.headers()) {
    http.headers.push_back({name, std::string(TrimSpace(value))});
  }
  if (!HasHeader(http.headers, "Accept")) http.headers.push_back({"Accept", "application/json"});
  if (!http.body.empty() && !HasHeader(http.headers, "Content-Type")) {
    http.headers.push_back({"Content-Type", "application/json"});
  }
  if (endpoint.project_scoped) http.headers.push_back({"X-Project-Id", project_id});
  for (const http::Header& header : http.headers) {
    if (EqualsIgnoreCase(header.name, "Content-Type") ||
        EqualsIgnoreCase(header.name, "X-Project-Id")) {
      built.signed_headers.push_back(header);
    }
  }
  return built;
}

}  // namespace otc::host::cloud
