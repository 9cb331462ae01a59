// ServingCertificate: what the HTTPS port shows to its clients.
//
// From files, read again when they change (so that a renewed certificate is
// served without a restart; a broken pair leaves the old one in force), or
// self-signed for localhost and 127.0.0.1, kept in memory. Thread-safe.
#ifndef OTC_HOST_OPS_CERTIFICATE_H_
#define OTC_HOST_OPS_CERTIFICATE_H_

#include <memory>
#include <mutex>
#include <string>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "sdk/include/otc/cpp/status.h"

// OpenSSL's types, without its headers.
struct ssl_st;
struct ssl_ctx_st;
struct x509_st;
struct evp_pkey_st;

namespace otc::host::ops {

class ServingCertificate {
 public:
  // INVALID_ARGUMENT "BadCertificate" naming the file and OpenSSL's reason.
  static Result<std::shared_ptr<ServingCertificate>> FromFiles(std::string cert_file,
                                                               std::string key_file, Clock& clock,
                                                               Log& log);
  static Result<std::shared_ptr<ServingCertificate>> SelfSigned(Clock& clock, Log& log);
  ~ServingCertificate();

  // Makes `context` ask this object for each handshake.
  void Attach(ssl_ctx_st* context);
  // At most once in 10 s of the clock; called by each handshake.
  void ReloadIfChanged();

 private:
  struct Pair;

  ServingCertificate(std::string cert_file, std::string key_file, Clock& clock, Log& log);
  static Result<std::unique_ptr<Pair>> Load(const std::string& cert_file,
                                            const std::string& key_file);
  static int OnHandshake(ssl_st* ssl, void* self);

  const std::string cert_file_;
  const std::string key_file_;
  Clock& clock_;
  Log& log_;
  std::mutex mutex_;  // guards all below
  MonoTime next_look_;
  std::string stamp_;
  std::unique_ptr<Pair> pair_;
};

}  // namespace otc::host::ops

#endif  // OTC_HOST_OPS_CERTIFICATE_H_
