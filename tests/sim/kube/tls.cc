#include "tests/sim/kube/tls.h"

#include <Poco/Crypto/EVPPKey.h>
#include <Poco/Crypto/X509Certificate.h>
#include <Poco/Exception.h>
#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <sstream>

namespace otc::kubesim {
namespace {

struct OpenSslDelete {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, OpenSslDelete>;
using CertificatePtr = std::unique_ptr<X509, OpenSslDelete>;
using BioPtr = std::unique_ptr<BIO, OpenSslDelete>;

Status OpenSslFailure(const std::string& what) {
  char text[256] = "";
  ERR_error_string_n(ERR_get_error(), text, sizeof(text));
  return Status(Code::kInternal, "TlsSetUp", what + ": " + text);
}

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

std::string ToPem(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return Contents(bio.get());
}

std::string ToPem(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return Contents(bio.get());
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) {
    return false;
  }
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// A certificate with random serial, valid from an hour ago for ten years, so that
// tests with skewed clocks can use it.
CertificatePtr NewCertificate(EVP_PKEY* key, const std::string& common_name,
                              const std::vector<std::string>& organizations) {
  CertificatePtr certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 10L * 365 * 24 * 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const auto add = [subject](const char* field, const std::string& value) {
    X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0);
  };
  for (const std::string& organization : organizations) {
    add("O", organization);
  }
  add("CN", common_name);
  return certificate;
}

bool IsIpAddress(const std::string& text) {
  in6_addr buffer;
  return inet_pton(AF_INET, text.c_str(), &buffer) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &buffer) == 1;
}

}  // namespace

struct CertificateAuthority::Impl {
  KeyPtr key;
  CertificatePtr certificate;

  Result<PemPair> Issue(const std::string& common_name,
                        const std::vector<std::string>& organizations, const char* usage,
                        const std::string& alternative_names) const {
    const KeyPtr leaf_key(EVP_EC_gen("P-256"));
    if (leaf_key == nullptr) {
      return OpenSslFailure("making a key");
    }
    const CertificatePtr leaf = NewCertificate(leaf_key.get(), common_name, organizations);
    X509_set_issuer_name(leaf.get(), X509_get_subject_name(certificate.get()));
    if (!AddExtension(leaf.get(), certificate.get(), NID_basic_constraints, "CA:FALSE") ||
        !AddExtension(leaf.get(), certificate.get(), NID_ext_key_usage, usage) ||
        (!alternative_names.empty() &&
         !AddExtension(leaf.get(), certificate.get(), NID_subject_alt_name, alternative_names)) ||
        X509_sign(leaf.get(), key.get(), EVP_sha256()) == 0) {
      return OpenSslFailure("issuing a certificate for " + common_name);
    }
    return PemPair{ToPem(leaf.get()), ToPem(leaf_key.get())};
  }
};

CertificateAuthority::CertificateAuthority(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)), pem_(ToPem(impl_->certificate.get())) {}

CertificateAuthority::~CertificateAuthority() = default;

Result<std::shared_ptr<CertificateAuthority>> CertificateAuthority::Create(
    const std::string& name) {
  auto impl = std::make_unique<Impl>();
  impl->key = KeyPtr(EVP_EC_gen("P-256"));
  if (impl->key == nullptr) {
    return OpenSslFailure("making the CA's key");
  }
  impl->certificate = NewCertificate(impl->key.get(), name, {});
  X509* ca = impl->certificate.get();
  X509_set_issuer_name(ca, X509_get_subject_name(ca));
  if (!AddExtension(ca, ca, NID_basic_constraints, "critical,CA:TRUE") ||
      !AddExtension(ca, ca, NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !AddExtension(ca, ca, NID_subject_key_identifier, "hash") ||
      X509_sign(ca, impl->key.get(), EVP_sha256()) == 0) {
    return OpenSslFailure("signing the CA");
  }
  return std::shared_ptr<CertificateAuthority>(new CertificateAuthority(std::move(impl)));
}

Result<PemPair> CertificateAuthority::IssueServer(const std::vector<std::string>& names) const {
  std::string alternatives;
  for (const std::string& name : names) {
    alternatives += alternatives.empty() ? "" : ",";
    alternatives += (IsIpAddress(name) ? "IP:" : "DNS:") + name;
  }
  return impl_->Issue("kube-sim", {}, "serverAuth", alternatives);
}

Result<PemPair> CertificateAuthority::IssueClient(const std::string& user,
                                                  const std::vector<std::string>& groups) const {
  return impl_->Issue(user, groups, "clientAuth", "");
}

Result<Poco::Net::Context::Ptr> MakeServerContext(const PemPair& server, const std::string& ca_pem,
                                                  bool require_client_certificate) {
  using Poco::Net::Context;
  try {
    Context::Params params;
    params.verificationMode =
        require_client_certificate ? Context::VERIFY_STRICT : Context::VERIFY_RELAXED;
    params.loadDefaultCAs = false;
    Context::Ptr context = new Context(Context::TLS_SERVER_USE, params);
    context->requireMinimumProtocol(Context::PROTO_TLSV1_2);
    std::istringstream ca_stream(ca_pem);
    context->addCertificateAuthority(Poco::Crypto::X509Certificate(ca_stream));
    std::istringstream certificate_stream(server.certificate);
    context->useCertificate(Poco::Crypto::X509Certificate(certificate_stream));
    std::istringstream key_stream(server.key);
    context->usePrivateKey(Poco::Crypto::EVPPKey(nullptr, &key_stream));
    return context;
  } catch (const Poco::Exception& error) {
    return Status(Code::kInternal, "TlsSetUp", "server context: " + error.displayText());
  }
}

}  // namespace otc::kubesim
