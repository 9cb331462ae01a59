#include "host/ops/server.h"

#include <Poco/Net/Context.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/HTTPSClientSession.h>
#include <Poco/StreamCopier.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "host/base/fake_clock.h"
#include "host/base/metrics.h"

namespace otc::host::ops {
namespace {

namespace net = Poco::Net;

struct Answer {
  int status = 0;
  std::string body;
  std::string common_name;
};

Answer Fetch(std::uint16_t port, const std::string& target, const std::string& method = "GET",
             const std::string& authorization = "") {
  net::Context::Ptr context = new net::Context(net::Context::TLS_CLIENT_USE, "", "", "",
                                               net::Context::VERIFY_NONE, 9, false);
  net::HTTPSClientSession session("127.0.0.1", port, context);
  net::HTTPRequest request(method, target, net::HTTPMessage::HTTP_1_1);
  if (!authorization.empty()) request.set("Authorization", authorization);
  session.sendRequest(request);
  net::HTTPResponse response;
  std::ostringstream body;
  Poco::StreamCopier::copyStream(session.receiveResponse(response), body);
  return {response.getStatus(), body.str(), session.serverCertificate().commonName()};
}

class ServerTest : public testing::Test {
 protected:
  void StartWith(std::shared_ptr<ServingCertificate> certificate, Server::Guard guard = nullptr) {
    ServerOptions options;
    options.bind_address = "127.0.0.1";
    options.port = 0;
    server_ = std::make_unique<Server>(options, std::move(certificate), std::move(guard), log_);
    server_->Handle("/healthz", [](const Request& r) {
      return Response{200, kPlainText, r.HasQuery("verbose") ? "long" : "ok"};
    });
    server_->Handle("/boom", [](const Request&) -> Response { throw std::runtime_error("x"); });
    const Status started = server_->Start();
    ASSERT_TRUE(started.ok()) << started.ToString();
  }

  std::shared_ptr<ServingCertificate> SelfSigned() {
    auto certificate = ServingCertificate::SelfSigned(clock_, log_);
    EXPECT_TRUE(certificate.ok()) << certificate.status().ToString();
    return *certificate;
  }

  FakeClock clock_;
  MemoryLog log_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, P04_ServesHttpsWithASelfSignedCertificate) {
  StartWith(SelfSigned());
  EXPECT_EQ(Fetch(server_->port(), "/healthz").body, "ok");
  EXPECT_EQ(Fetch(server_->port(), "/healthz?verbose").body, "long");
  EXPECT_EQ(Fetch(server_->port(), "/healthz").common_name, "otc-host");
}

TEST_F(ServerTest, PathsMatchExactlyAndOnlyGetIsServed) {
  StartWith(SelfSigned());
  EXPECT_EQ(Fetch(server_->port(), "/healthz/ping").status, 404);
  EXPECT_EQ(Fetch(server_->port(), "/nothing").status, 404);
  EXPECT_EQ(Fetch(server_->port(), "/healthz", "POST").status, 405);
}

TEST_F(ServerTest, AHandlerThatThrowsHurtsNobody) {
  StartWith(SelfSigned());
  EXPECT_EQ(Fetch(server_->port(), "/boom").status, 400);
  EXPECT_EQ(Fetch(server_->port(), "/healthz").status, 200);
}

TEST_F(ServerTest, TheGuardDecidesFirst) {
  std::string token;
  StartWith(SelfSigned(), [&](const Request& r) {
    token = r.bearer_token;
    return r.bearer_token == "good" ? Response{} : Response{403, kPlainText, "no"};
  });
  EXPECT_EQ(Fetch(server_->port(), "/healthz").status, 403);
  EXPECT_EQ(Fetch(server_->port(), "/healthz", "GET", "Bearer good").status, 200);
  EXPECT_EQ(token, "good");
}

TEST_F(ServerTest, P08_ATakenPortIsAnErrorThatNamesIt) {
  StartWith(SelfSigned());
  ServerOptions options;
  options.bind_address = "127.0.0.1";
  options.port = server_->port();
  Server second(options, SelfSigned(), nullptr, log_);
  const Status status = second.Start();
  EXPECT_EQ(status.reason(), "ListenFailed");
  EXPECT_NE(status.message().find("127.0.0.1:" + std::to_string(options.port)), std::string::npos);
}

// Writes a self-signed pair with this common name.
void WritePair(const std::string& folder, const std::string& name) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  X509_sign(certificate, key, EVP_sha256());
  std::FILE* cert_file = std::fopen((folder + "/tls.crt").c_str(), "we");
  PEM_write_X509(cert_file, certificate);
  std::fclose(cert_file);
  std::FILE* key_file = std::fopen((folder + "/tls.key").c_str(), "we");
  PEM_write_PrivateKey(key_file, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(key_file);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

TEST_F(ServerTest, P09_ARenewedCertificateIsServedWithoutARestartAndABrokenOneIsNot) {
  char folder[] = "/tmp/otc-ops-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string cert = std::string(folder) + "/tls.crt";
  const std::string key = std::string(folder) + "/tls.key";
  WritePair(folder, "first");
  auto certificate = ServingCertificate::FromFiles(cert, key, clock_, log_);
  ASSERT_TRUE(certificate.ok()) << certificate.status().ToString();
  StartWith(*certificate);
  EXPECT_EQ(Fetch(server_->port(), "/healthz").common_name, "first");
  WritePair(folder, "second");
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(Fetch(server_->port(), "/healthz").common_name, "second");
  std::ofstream(cert) << "garbage";
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(Fetch(server_->port(), "/healthz").common_name, "second");
  server_->Stop();
  unlink(cert.c_str());
  unlink(key.c_str());
  rmdir(folder);
}

TEST_F(ServerTest, BadCertificateFilesAreNamed) {
  const auto missing =
      ServingCertificate::FromFiles("/nonexistent/a", "/nonexistent/b", clock_, log_);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().reason(), "BadCertificate");
  EXPECT_NE(missing.status().message().find("/nonexistent/a"), std::string::npos);
}

}  // namespace
}  // namespace otc::host::ops
