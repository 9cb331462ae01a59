// Certificates for a simulator: a throw-away CA, a server certificate for the
// loopback names, client certificates; and the Poco context that serves them.
//
// Keys are EC P-256 and live in memory. OpenSSL failures here mean a broken
// installation: they are reported as text.
#ifndef OTC_TESTS_SIM_KUBE_TLS_H_
#define OTC_TESTS_SIM_KUBE_TLS_H_

#include <Poco/Net/Context.h>

#include <memory>
#include <string>
#include <vector>

#include "sdk/include/otc/cpp/status.h"

namespace otc::kubesim {

struct PemPair {
  std::string certificate;
  std::string key;
};

class CertificateAuthority {
 public:
  static Result<std::shared_ptr<CertificateAuthority>> Create(const std::string& name);
  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  const std::string& pem() const { return pem_; }
  // `names`: DNS names and IP addresses of the server.
  Result<PemPair> IssueServer(const std::vector<std::string>& names) const;
  // User name and groups as Kubernetes reads them from CN and O.
  Result<PemPair> IssueClient(const std::string& user,
                              const std::vector<std::string>& groups) const;

 private:
  struct Impl;
  explicit CertificateAuthority(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  std::string pem_;
};

// Server side; client certificates of the authority are accepted, none is asked for.
Result<Poco::Net::Context::Ptr> MakeServerContext(const PemPair& server, const std::string& ca_pem,
                                                  bool require_client_certificate);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_TLS_H_
