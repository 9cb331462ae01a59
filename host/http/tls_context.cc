#include "host/http/tls_context.h"

#include <Poco/Exception.h>
#include <Poco/Net/NetSSL.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cerrno>
#include <fstream>
#include <mutex>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/strings.h"
#include "host/http/tls_internal.h"

namespace otc::host::http {
namespace {

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;
using CertPtr = std::unique_ptr<X509, decltype(&X509_free)>;
using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

thread_local std::string last_verify_error;

// Keeps OpenSSL's verdict: Poco's exception only says that verification failed.
int NoteVerifyResult(int ok, X509_STORE_CTX* store) {
  if (ok == 0) {
    last_verify_error = X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
  }
  return ok;
}

std::string OpenSslError() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text == nullptr ? "not valid PEM" : text;
}

// An encrypted key would make OpenSSL ask on the terminal.
int NoPassword(char*, int, int, void*) { return 0; }

BioPtr MemoryBio(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
}

// All certificates of a PEM text; text between them is skipped as usual.
std::vector<CertPtr> ReadCertificates(const std::string& pem, std::string& error) {
  std::vector<CertPtr> certificates;
  const BioPtr bio = MemoryBio(pem);
  ERR_clear_error();
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, NoPassword, nullptr)) {
    certificates.emplace_back(certificate, &X509_free);
  }
  const unsigned long code = ERR_peek_last_error();
  const bool end = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
  if (!end) {
    error = OpenSslError();
  } else if (certificates.empty()) {
    error = "no certificate in it";
  }
  ERR_clear_error();
  return certificates;
}

Result<std::string> ReadFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || file.bad()) {
    const std::string why = errno == 0 ? "cannot be read" : std::generic_category().message(errno);
    return Status(Code::kInvalidArgument, "BadTls", why);
  }
  return text.str();
}

// Collects everything that is wrong with one set of options.
class ContextBuilder {
 public:
  explicit ContextBuilder(const TlsOptions& options) : options_(options) {}

  Result<std::shared_ptr<const TlsContext>> Build() {
    try {
      Create();
    } catch (const Poco::Exception& e) {
      errors_.push_back("TLS set-up: " + e.displayText());
    }
    if (errors_.empty()) AddAuthorities();
    if (context_) AddClientCertificate();
    if (!errors_.empty()) {
      return Status(Code::kInvalidArgument, "BadTls", Join(errors_, "; "));
    }
    auto result = std::make_shared<TlsContext>();
    result->context = context_;
    result->server_name = options_.server_name;
    result->verify = !options_.insecure_skip_verify;
    return std::shared_ptr<const TlsContext>(std::move(result));
  }

 private:
  bool OwnAuthority() const { return !options_.ca_file.empty() || !options_.ca_pem.empty(); }

  void Create() {
    static std::once_flag initialized;
    std::call_once(initialized, [] { Poco::Net::initializeSSL(); });
    Poco::Net::Context::Params params;
    params.verificationMode = options_.insecure_skip_verify ? Poco::Net::Context::VERIFY_NONE
                                                            : Poco::Net::Context::VERIFY_STRICT;
    params.verificationDepth = 9;
    params.loadDefaultCAs = !OwnAuthority() && !options_.insecure_skip_verify;
    params.cipherList = "DEFAULT:!aNULL";
    context_ = new Poco::Net::Context(Poco::Net::Context::CLIENT_USE, params);
    context_->requireMinimumProtocol(Poco::Net::Context::PROTO_TLSV1_2);
    SSL_CTX* raw = context_->sslContext();
    SSL_CTX_set_verify(raw, options_.insecure_skip_verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                       &NoteVerifyResult);
    // A write that must be repeated may come from another place in memory.
    SSL_CTX_set_mode(raw, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  }

  void AddAuthorities() {
    if (!OwnAuthority()) return;
    if (options_.insecure_skip_verify) {
      errors_.push_back("a CA and insecure_skip_verify exclude each other: drop one of them");
      return;
    }
    std::string where = "CA (inline PEM)";
    std::string pem = options_.ca_pem;
    if (!options_.ca_file.empty()) {
      where = "CA file " + JsonQuote(options_.ca_file);
      auto text = ReadFile(options_.ca_file);
      if (!text.ok()) {
        errors_.push_back(where + ": " + text.status().message());
        return;
      }
      pem = std::move(text).value();
    }
    std::string error;
    const auto certificates = ReadCertificates(pem, error);
    if (!error.empty()) {
      errors_.push_back(where + ": " + error);
      return;
    }
    X509_STORE* store = SSL_CTX_get_cert_store(context_->sslContext());
    for (const auto& certificate : certificates) {
      if (X509_STORE_add_cert(store, certificate.get()) != 1) {
        errors_.push_back(where + ": " + OpenSslError());
      }
    }
  }

  void AddClientCertificate() {
    const bool has_cert = !options_.client_cert_pem.empty();
    const bool has_key = !options_.client_key_pem.empty();
    if (!has_cert && !has_key) return;
    if (!has_cert || !has_key) {
      errors_.push_back(has_cert ? "client certificate without a key"
                                 : "client key without a certificate");
      return;
    }
    std::string error;
    const auto chain = ReadCertificates(options_.client_cert_pem, error);
    if (!error.empty()) errors_.push_back("client certificate: " + error);
    ERR_clear_error();
    const BioPtr bio = MemoryBio(options_.client_key_pem);
    const KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr),
                     &EVP_PKEY_free);
    if (!key) {
      const bool encrypted = options_.client_key_pem.find("ENCRYPTED") != std::string::npos;
      errors_.push_back("client key: " +
                        (encrypted ? "encrypted keys are not supported" : OpenSslError()));
    }
    if (!error.empty() || !key) {
      ERR_clear_error();
      return;
    }
    SSL_CTX* raw = context_->sslContext();
    bool ok = SSL_CTX_use_certificate(raw, chain.front().get()) == 1;
    for (std::size_t i = 1; i < chain.size(); ++i) {
      ok = ok && SSL_CTX_add1_chain_cert(raw, chain[i].get()) == 1;
    }
    if (!ok) errors_.push_back("client certificate: " + OpenSslError());
    if (ok &&
        (SSL_CTX_use_PrivateKey(raw, key.get()) != 1 || SSL_CTX_check_private_key(raw) != 1)) {
      errors_.push_back("client key: " + OpenSslError());
    }
  }

  const TlsOptions& options_;
  Poco::Net::Context::Ptr context_;
  std::vector<std::string> errors_;
};

}  // namespace

std::string TakeVerifyError() { return std::exchange(last_verify_error, ""); }

Result<std::shared_ptr<const TlsContext>> MakeTlsContext(const TlsOptions& options) {
  return ContextBuilder(options).Build();
}

}  // namespace otc::host::http
