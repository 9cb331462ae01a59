#include "host/kube/credentials.h"

#include <Poco/Base64Encoder.h>

#include <sstream>
#include <utility>

#include "host/base/files.h"
#include "host/base/strings.h"

namespace otc::host::kube {
namespace {

constexpr Duration kTokenAge = std::chrono::seconds(50);

std::string BasicHeader(const KubeConfig& config) {
  if (config.username.empty()) return "";
  std::ostringstream out;
  Poco::Base64Encoder encoder(out);
  encoder.rdbuf()->setLineLength(0);
  encoder << config.username << ':' << config.password;
  encoder.close();
  return "Basic " + out.str();
}

// The text itself, or the file's content.
Result<std::string> TextOrFile(const std::string& text, const std::string& file,
                               const std::string& what) {
  if (!text.empty() || file.empty()) return text;
  Result<std::string> content = ReadSmallFile(file);
  if (!content.ok()) return content.status().WithPrefix(what + ": ");
  if (TrimSpace(content.value()).empty()) {
    return Status(Code::kInvalidArgument, "FileEmpty", what + ": " + file + " is empty");
  }
  return content;
}

}  // namespace

TokenSource::TokenSource(const KubeConfig& config, Clock& clock, Log& log)
    : file_(config.token_file),
      fixed_(BasicHeader(config)),
      fallback_token_(config.token),
      clock_(clock),
      log_(log) {}

Result<std::string> TokenSource::ReadToken() {
  Result<std::string> content = ReadSmallFile(file_);
  if (!content.ok()) return content.status();
  std::string token(TrimSpace(content.value()));
  if (token.empty()) {
    return Status(Code::kInvalidArgument, "FileEmpty", "token file " + file_ + " is empty");
  }
  return token;
}

Result<std::string> TokenSource::Authorization() {
  if (file_.empty()) {
    return fallback_token_.empty() ? fixed_ : "Bearer " + fallback_token_;
  }
  std::lock_guard lock(mutex_);
  const MonoTime now = clock_.Now();
  if (stale_ || now - read_at_ > kTokenAge) {
    Result<std::string> token = ReadToken();
    if (token.ok()) {
      token_ = std::move(token).value();
      read_at_ = now;
      stale_ = false;
    } else if (!token_.empty()) {
      log_.Warn("cannot read the token again; the last one stays in use",
                {{"error", token.status()}});
    } else if (!fallback_token_.empty()) {
      return "Bearer " + fallback_token_;
    } else {
      return token.status().WithPrefix("no credential for the API server: ");
    }
  }
  return "Bearer " + token_;
}

void TokenSource::OnUnauthorized(MonoTime request_started) {
  std::lock_guard lock(mutex_);
  if (read_at_ <= request_started) stale_ = true;
}

Result<http::TlsOptions> TlsSource::Load() const {
  http::TlsOptions options;
  Result<std::string> ca = TextOrFile(config_.ca_pem, config_.ca_file, "certificate authority");
  if (!ca.ok()) return ca.status();
  Result<std::string> cert =
      TextOrFile(config_.client_cert_pem, config_.client_cert_file, "client certificate");
  if (!cert.ok()) return cert.status();
  Result<std::string> key =
      TextOrFile(config_.client_key_pem, config_.client_key_file, "client key");
  if (!key.ok()) return key.status();
  options.ca_pem = std::move(ca).value();
  options.client_cert_pem = std::move(cert).value();
  options.client_key_pem = std::move(key).value();
  options.server_name = config_.tls_server_name;
  options.insecure_skip_verify = config_.insecure;
  return options;
}

}  // namespace otc::host::kube
