#include "host/http/testing/test_ca.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace otc::host::http::testing {
namespace {

using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using CertPtr = std::unique_ptr<X509, decltype(&X509_free)>;

void Require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "TestCa: %s failed\n", what);
  std::abort();
}

std::string ToPem(const std::function<int(BIO*)>& write) {
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), &BIO_free);
  Require(bio && write(bio.get()) == 1, "writing PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

KeyPtr NewKey() {
  KeyPtr key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  Require(key != nullptr, "EVP_EC_gen");
  return key;
}

void AddExtension(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  Require(extension != nullptr, "X509V3_EXT_conf_nid");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

CertPtr NewCertificate(const std::string& common_name, EVP_PKEY* key, long not_before,
                       long not_after) {
  static std::atomic<long> serial{1};
  CertPtr certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), not_before);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), not_after);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  X509_set_pubkey(certificate.get(), key);
  return certificate;
}

std::string AltNames(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) {
    unsigned char ignored[16];
    const bool ip = inet_pton(AF_INET, name.c_str(), ignored) == 1 ||
                    inet_pton(AF_INET6, name.c_str(), ignored) == 1;
    if (!text.empty()) text += ",";
    text += (ip ? "IP:" : "DNS:") + name;
  }
  return text;
}

}  // namespace

struct TestCa::Impl {
  KeyPtr key{nullptr, &EVP_PKEY_free};
  CertPtr certificate{nullptr, &X509_free};
  std::string pem;
};

TestCa::TestCa(const std::string& common_name) : impl_(std::make_unique<Impl>()) {
  impl_->key = NewKey();
  impl_->certificate = NewCertificate(common_name, impl_->key.get(), -86400, 86400);
  X509* raw = impl_->certificate.get();
  X509_set_issuer_name(raw, X509_get_subject_name(raw));
  AddExtension(raw, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(raw, NID_key_usage, "critical,keyCertSign,cRLSign");
  Require(X509_sign(raw, impl_->key.get(), EVP_sha256()) > 0, "X509_sign");
  impl_->pem = ToPem([&](BIO* bio) { return PEM_write_bio_X509(bio, raw); });
}

TestCa::~TestCa() = default;

const std::string& TestCa::cert_pem() const { return impl_->pem; }

Identity TestCa::Issue(const IdentityOptions& options) const {
  const KeyPtr key = NewKey();
  const CertPtr certificate =
      NewCertificate("test", key.get(), options.not_before_seconds, options.not_after_seconds);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(impl_->certificate.get()));
  if (!options.names.empty()) {
    AddExtension(certificate.get(), NID_subject_alt_name, AltNames(options.names));
  }
  AddExtension(certificate.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  Require(X509_sign(certificate.get(), impl_->key.get(), EVP_sha256()) > 0, "X509_sign");
  Identity identity;
  identity.cert_pem = ToPem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); });
  identity.key_pem = ToPem([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return identity;
}

}  // namespace otc::host::http::testing
