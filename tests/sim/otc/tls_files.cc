#include "tests/sim/otc/tls_files.h"

#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

namespace otc::sim {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Status Fail(const std::string& what) {
  return Status(Code::kUnavailable, "TlsFiles", "cannot make " + what);
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

bool SetSerial(X509* certificate) {
  unsigned char bytes[8];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] &= 0x7f;
  std::uint64_t serial = 0;
  for (const unsigned char byte : bytes) serial = serial << 8 | byte;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1;
}

// `issuer` null: self-signed, a CA.
Certificate Make(const char* name, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
  constexpr long kTenYears = 10L * 365 * 86'400;
  Certificate certificate(X509_new(), X509_free);
  X509* raw = certificate.get();
  X509_set_version(raw, 2);
  X509_gmtime_adj(X509_getm_notBefore(raw), -86'400);
  X509_gmtime_adj(X509_getm_notAfter(raw), kTenYears);
  X509_set_pubkey(raw, key);
  X509_NAME* subject = X509_get_subject_name(raw);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509* signer = issuer == nullptr ? raw : issuer;
  X509_set_issuer_name(raw, X509_get_subject_name(signer));
  const bool ca = issuer == nullptr;
  const bool extended =
      SetSerial(raw) &&
      AddExtension(raw, signer, NID_basic_constraints,
                   ca ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
      AddExtension(raw, signer, NID_key_usage,
                   ca ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature") &&
      AddExtension(raw, signer, NID_subject_key_identifier, "hash") &&
      AddExtension(raw, signer, NID_authority_key_identifier, "keyid:always") &&
      (ca ||
       (AddExtension(raw, signer, NID_ext_key_usage, "serverAuth") &&
        AddExtension(raw, signer, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1")));
  if (!extended || X509_sign(raw, issuer_key, EVP_sha256()) == 0) return {nullptr, X509_free};
  return certificate;
}

template <typename Write>
bool WriteFile(const std::string& path, int mode, Write write) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  FILE* file = fd < 0 ? nullptr : ::fdopen(fd, "w");
  if (file == nullptr) return false;
  const bool written = write(file) == 1;
  return std::fclose(file) == 0 && written;
}

}  // namespace

Status MakeTlsFiles(const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return Fail(directory + ": " + error.message());
  const std::string ca_path = directory + "/ca.pem", certificate_path = directory + "/server.pem",
                    key_path = directory + "/server-key.pem";
  if (fs::exists(ca_path) && fs::exists(certificate_path) && fs::exists(key_path)) {
    return Status::Ok();
  }
  const Key ca_key(EVP_EC_gen("P-256"), EVP_PKEY_free), key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  if (!ca_key || !key) return Fail("a key");
  const Certificate ca = Make("otc-sim CA", ca_key.get(), nullptr, ca_key.get());
  const Certificate server =
      ca ? Make("otc-sim", key.get(), ca.get(), ca_key.get()) : Certificate(nullptr, X509_free);
  if (!server) return Fail("a certificate");
  const bool written =
      WriteFile(ca_path, 0644, [&](FILE* f) { return PEM_write_X509(f, ca.get()); }) &&
      WriteFile(certificate_path, 0644, [&](FILE* f) { return PEM_write_X509(f, server.get()); }) &&
      WriteFile(key_path, 0600, [&](FILE* f) {
        return PEM_write_PrivateKey(f, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
      });
  return written ? Status::Ok() : Fail("the files in " + directory);
}

}  // namespace otc::sim
