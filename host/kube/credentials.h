// Credentials: what proves the host's identity to the API server, kept fresh.
//
// Tokens from a file are read again when the copy is older than 50 s (60 s less a
// leeway of 10 s) and after a 401; while the file cannot be read the last good
// token stays. Certificates and CA come from files that are looked at again every
// 5 minutes; what cannot be read is ignored until it can be. Thread-safe.
#ifndef OTC_HOST_KUBE_CREDENTIALS_H_
#define OTC_HOST_KUBE_CREDENTIALS_H_

#include <mutex>
#include <string>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/http/client.h"
#include "host/kube/config.h"

namespace otc::host::kube {

class TokenSource {
 public:
  TokenSource(const KubeConfig& config, Clock& clock, Log& log);

  // Value of the Authorization header, "" if the config has none. Fails only if
  // the token file was never readable and there is no other token.
  Result<std::string> Authorization();
  // The server refused a request that was started at this time: a token read
  // before it is read again for the next one.
  void OnUnauthorized(MonoTime request_started);

 private:
  Result<std::string> ReadToken();

  const std::string file_;
  const std::string fixed_;  // header for credentials that do not change
  const std::string fallback_token_;
  Clock& clock_;
  Log& log_;
  std::mutex mutex_;
  std::string token_;
  MonoTime read_at_{};
  bool stale_ = true;
};

class TlsSource {
 public:
  explicit TlsSource(const KubeConfig& config) : config_(config) {}

  // The options with every file read; fails naming the file.
  Result<http::TlsOptions> Load() const;
  bool HasFiles() const {
    return !config_.ca_file.empty() || !config_.client_cert_file.empty() ||
           !config_.client_key_file.empty();
  }

 private:
  const KubeConfig config_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_CREDENTIALS_H_
