#include "host/ops/certificate.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <vector>

namespace otc::host::ops {
namespace {

struct X509Free {
  void operator()(X509* x) const { X509_free(x); }
};
struct KeyFree {
  void operator()(EVP_PKEY* k) const { EVP_PKEY_free(k); }
};
struct FileClose {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using X509Ptr = std::unique_ptr<X509, X509Free>;
using KeyPtr = std::unique_ptr<EVP_PKEY, KeyFree>;
using FilePtr = std::unique_ptr<std::FILE, FileClose>;

std::string OpenSslReason() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (error == 0) return "no further reason";
  char text[256];
  ERR_error_string_n(error, text, sizeof(text));
  return text;
}

Status Bad(const std::string& what) {
  return Status(Code::kInvalidArgument, "BadCertificate", what);
}

// Size and modification time of both files: enough to see a renewal.
std::string Stamp(const std::string& cert_file, const std::string& key_file) {
  std::string stamp;
  for (const std::string& file : {cert_file, key_file}) {
    struct stat info {};
    if (stat(file.c_str(), &info) != 0) return "";
    stamp += std::to_string(info.st_ino) + "." + std::to_string(info.st_size) + "." +
             std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + ";";
  }
  return stamp;
}

bool AddExtension(X509* certificate, int nid, const char* value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

}  // namespace

struct ServingCertificate::Pair {
  KeyPtr key;
  std::vector<X509Ptr> chain;  // leaf first
};

ServingCertificate::ServingCertificate(std::string cert_file, std::string key_file, Clock& clock,
                                       Log& log)
    : cert_file_(std::move(cert_file)), key_file_(std::move(key_file)), clock_(clock), log_(log) {}

ServingCertificate::~ServingCertificate() = default;

Result<std::unique_ptr<ServingCertificate::Pair>> ServingCertificate::Load(
    const std::string& cert_file, const std::string& key_file) {
  auto pair = std::make_unique<Pair>();
  const FilePtr certs(std::fopen(cert_file.c_str(), "re"));
  if (!certs) return Bad("certificate file " + cert_file + " cannot be opened");
  while (X509* next = PEM_read_X509(certs.get(), nullptr, nullptr, nullptr)) {
    pair->chain.emplace_back(next);
  }
  if (pair->chain.empty()) {
    return Bad("certificate file " + cert_file + " holds no PEM certificate: " + OpenSslReason());
  }
  ERR_clear_error();  // the loop ends with "no start line"
  const FilePtr keys(std::fopen(key_file.c_str(), "re"));
  if (!keys) return Bad("key file " + key_file + " cannot be opened");
  pair->key.reset(PEM_read_PrivateKey(keys.get(), nullptr, nullptr, nullptr));
  if (!pair->key) {
    return Bad("key file " + key_file + " holds no PEM private key: " + OpenSslReason());
  }
  if (X509_check_private_key(pair->chain.front().get(), pair->key.get()) != 1) {
    ERR_clear_error();
    return Bad("key file " + key_file + " does not belong to certificate file " + cert_file);
  }
  return pair;
}

Result<std::shared_ptr<ServingCertificate>> ServingCertificate::FromFiles(std::string cert_file,
                                                                          std::string key_file,
                                                                          Clock& clock, Log& log) {
  std::shared_ptr<ServingCertificate> self(
      new ServingCertificate(std::move(cert_file), std::move(key_file), clock, log));
  self->stamp_ = Stamp(self->cert_file_, self->key_file_);
  auto pair = Load(self->cert_file_, self->key_file_);
  if (!pair.ok()) return pair.status();
  self->pair_ = std::move(pair).value();
  return self;
}

Result<std::shared_ptr<ServingCertificate>> ServingCertificate::SelfSigned(Clock& clock, Log& log) {
  std::shared_ptr<ServingCertificate> self(new ServingCertificate("", "", clock, log));
  auto pair = std::make_unique<Pair>();
  pair->key.reset(EVP_EC_gen("P-256"));
  X509Ptr certificate(X509_new());
  if (!pair->key || !certificate) return Bad("self-signed certificate: " + OpenSslReason());
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 365L * 24 * 3600);
  X509_set_pubkey(certificate.get(), pair->key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("otc-host"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  if (!AddExtension(certificate.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1") ||
      X509_sign(certificate.get(), pair->key.get(), EVP_sha256()) == 0) {
    return Bad("self-signed certificate: " + OpenSslReason());
  }
  pair->chain.push_back(std::move(certificate));
  self->pair_ = std::move(pair);
  return self;
}

void ServingCertificate::Attach(ssl_ctx_st* context) {
  SSL_CTX_set_cert_cb(context, &ServingCertificate::OnHandshake, this);
}

void ServingCertificate::ReloadIfChanged() {
  if (cert_file_.empty()) return;
  {
    std::lock_guard lock(mutex_);
    const MonoTime now = clock_.Now();
    if (now < next_look_) return;
    next_look_ = now + std::chrono::seconds(10);
  }
  const std::string stamp = Stamp(cert_file_, key_file_);
  {
    std::lock_guard lock(mutex_);
    if (stamp.empty() || stamp == stamp_) return;
    stamp_ = stamp;
  }
  auto pair = Load(cert_file_, key_file_);
  if (!pair.ok()) {
    log_.Warn("serving certificate not renewed, the old one stays", {{"error", pair.status()}});
    return;
  }
  std::lock_guard lock(mutex_);
  pair_ = std::move(pair).value();
  log_.Info("serving certificate renewed", {{"file", cert_file_}});
}

int ServingCertificate::OnHandshake(ssl_st* ssl, void* self_pointer) {
  auto* self = static_cast<ServingCertificate*>(self_pointer);
  self->ReloadIfChanged();
  std::lock_guard lock(self->mutex_);
  SSL_certs_clear(ssl);
  const Pair& pair = *self->pair_;
  if (SSL_use_certificate(ssl, pair.chain.front().get()) != 1 ||
      SSL_use_PrivateKey(ssl, pair.key.get()) != 1) {
    return 0;
  }
  for (std::size_t i = 1; i < pair.chain.size(); ++i) {
    if (SSL_add1_chain_cert(ssl, pair.chain[i].get()) != 1) return 0;
  }
  return 1;
}

}  // namespace otc::host::ops
