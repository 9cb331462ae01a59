#include "host/kube/lane.h"

#include <utility>

namespace otc::host::kube {
namespace {

constexpr Duration kLookAtFilesEvery = std::chrono::minutes(5);

bool SameCertificate(const http::TlsOptions& a, const http::TlsOptions& b) {
  return a.client_cert_pem == b.client_cert_pem && a.client_key_pem == b.client_key_pem;
}

}  // namespace

LaneConnection::LaneConnection(const TlsSource& tls, std::string user_agent,
                               const HttpFactory& factory, Clock& clock, Log& log)
    : tls_(tls), user_agent_(std::move(user_agent)), factory_(factory), clock_(clock), log_(log) {}

Result<LaneConnection::Use> LaneConnection::Get() {
  std::lock_guard lock(mutex_);
  const MonoTime now = clock_.Now();
  const bool due = tls_.HasFiles() && now - checked_ >= kLookAtFilesEvery;
  if (use_.http && !due) return use_;
  checked_ = now;
  Result<http::TlsOptions> tls = tls_.Load();
  Status status = tls.status();
  if (tls.ok()) {
    const bool same = use_.http && tls->ca_pem == loaded_.ca_pem && SameCertificate(*tls, loaded_);
    if (!same) status = Replace(std::move(tls).value());
  }
  if (status.ok()) return use_;
  if (!use_.http) return status;
  log_.Warn("cannot use the new certificates; the old ones stay in use", {{"error", status}});
  return use_;
}

Status LaneConnection::Replace(http::TlsOptions tls) {
  http::ClientOptions options;
  options.tls = tls;
  options.user_agent = user_agent_;
  Result<std::unique_ptr<http::Client>> client = factory_(std::move(options), clock_);
  if (!client.ok()) return client.status();
  const bool new_certificate = use_.http && !SameCertificate(tls, loaded_);
  Use old = std::exchange(use_, {std::move(client).value(), use_.replaced});
  loaded_ = std::move(tls);
  if (old.http) {
    log_.Info("certificates for the API server were replaced");
    old.http->CloseIdle();
  }
  if (!use_.replaced) use_.replaced = Cancellation::Create();
  if (new_certificate) {
    use_.replaced = Cancellation::Create();
    old.replaced->Cancel("CredentialsChanged", "the client certificate was replaced");
  }
  return Status::Ok();
}

}  // namespace otc::host::kube
