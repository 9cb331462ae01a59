// The client and TLS: who is trusted, what is refused, what the errors say.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "host/http/client.h"
#include "host/http/testing/fixture.h"

namespace otc::host::http {
namespace {

using testing::Answering;
using testing::ClientTest;
using testing::Identity;
using testing::IdentityOptions;
using testing::OkAnswer;
using testing::ScriptedConnection;
using testing::ScriptedServer;
using testing::SeenRequest;
using testing::ServerOptions;
using testing::TestCa;

class ClientTlsTest : public ClientTest {
 protected:
  ClientTlsTest() { options().tls.ca_pem = ca_.cert_pem(); }

  ServerOptions Tls(const IdentityOptions& identity = {}) const {
    ServerOptions server;
    server.identity = ca_.Issue(identity);
    return server;
  }

  // Sends one request to a server that would answer it; expects a failed handshake
  // of which the server's application saw nothing.
  void ExpectRefused(const ServerOptions& options, const std::string& why) {
    ScriptedServer server(options, Answering([](const SeenRequest&) { return OkAnswer(""); }));
    const Outcome outcome = client().Send(Get(server), context());
    EXPECT_EQ(outcome.delivery, Delivery::kNotSent);
    EXPECT_EQ(outcome.error.code(), Code::kUnavailable);
    EXPECT_EQ(outcome.error.reason(), "TlsFailed") << outcome.error.ToString();
    EXPECT_NE(outcome.error.message().find(why), std::string::npos) << outcome.error.ToString();
    EXPECT_NE(outcome.error.message().find(server.origin().ToString()), std::string::npos);
    EXPECT_TRUE(server.requests().empty());
  }

  TestCa ca_;
};

TEST_F(ClientTlsTest, RequestsAndReuseOverBothVersions) {
  for (const bool old_version : {false, true}) {
    auto server_options = Tls();
    server_options.only_tls_1_2 = old_version;
    ScriptedServer server(server_options, Answering([](const SeenRequest& request) {
                            return OkAnswer(request.body);
                          }));
    auto request = Get(server);
    request.method = "POST";
    request.body = std::string(300'000, 'b');
    const Outcome first = client().Send(request, context());
    ASSERT_EQ(first.delivery, Delivery::kAnswered) << first.error.ToString();
    EXPECT_EQ(first.response.body, request.body);
    const Outcome second = client().Send(request, context());
    EXPECT_TRUE(second.reused_connection);
    EXPECT_EQ(second.response.body, request.body);
    EXPECT_EQ(server.connections(), 1);
  }
}

TEST_F(ClientTlsTest, Ipv6AddressesAreVerifiedByTheirSan) {
  auto server_options = Tls();
  server_options.address = "::1";
  ScriptedServer server(server_options,
                        Answering([](const SeenRequest&) { return OkAnswer("six"); }));
  const Outcome outcome = client().Send(Get(server), context());
  EXPECT_EQ(outcome.response.body, "six") << outcome.error.ToString();
  EXPECT_EQ(server.requests().at(0).Find("host"), "[::1]:" + std::to_string(server.port()));
}

TEST_F(ClientTlsTest, C30_AWrongNameIsRefusedOnLoopbackToo) {
  ExpectRefused(Tls({.names = {"wrong.example"}}), "not valid for \"127.0.0.1\"");
  ExpectRefused(Tls({.names = {"127.0.0.2"}}), "not valid for \"127.0.0.1\"");
}

TEST_F(ClientTlsTest, C30_AnUnknownAuthorityIsRefused) {
  const TestCa other("other CA");
  ServerOptions server;
  server.identity = other.Issue();
  ExpectRefused(server, "unable to get local issuer certificate");
}

TEST_F(ClientTlsTest, C30_ExpiredAndFutureCertificatesAreRefused) {
  ExpectRefused(Tls({.not_before_seconds = -7200, .not_after_seconds = -3600}), "expired");
  ExpectRefused(Tls({.not_before_seconds = 3600, .not_after_seconds = 7200}), "not yet valid");
}

TEST_F(ClientTlsTest, C30_Tls11IsRefused) {
  auto server = Tls();
  server.only_tls_1_1 = true;
  ExpectRefused(server, "protocol");
}

TEST_F(ClientTlsTest, C30_TheServerNameReplacesTheAddress) {
  options().tls.server_name = "kubernetes.default.svc";
  ScriptedServer server(Tls({.names = {"kubernetes.default.svc"}}),
                        Answering([](const SeenRequest&) { return OkAnswer("ok"); }));
  EXPECT_EQ(client().Send(Get(server), context()).response.body, "ok");
  ExpectRefused(Tls({.names = {"127.0.0.1"}}), "kubernetes.default.svc");
}

TEST_F(ClientTlsTest, TheSystemsAuthoritiesDoNotKnowTheTestCa) {
  options().tls.ca_pem.clear();
  ExpectRefused(Tls(), "certificate");
}

TEST_F(ClientTlsTest, SkippingVerificationTakesAnything) {
  options().tls.ca_pem.clear();
  options().tls.insecure_skip_verify = true;
  ScriptedServer server(Tls({.names = {"wrong.example"}}),
                        Answering([](const SeenRequest&) { return OkAnswer("ok"); }));
  EXPECT_EQ(client().Send(Get(server), context()).response.body, "ok");
}

TEST_F(ClientTlsTest, APlainServerIsNotTls) {
  ScriptedServer server({}, [](ScriptedConnection& connection) {
    connection.ReadSome(10);
    connection.Write("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  auto request = Get(server);
  request.origin.tls = true;
  const Outcome outcome = client().Send(request, context());
  EXPECT_EQ(outcome.error.reason(), "TlsFailed") << outcome.error.ToString();
  EXPECT_EQ(outcome.delivery, Delivery::kNotSent);
}

TEST_F(ClientTlsTest, AMissingClientCertificateIsSaid) {
  for (const bool old_version : {false, true}) {
    auto server = Tls();
    server.client_ca_pem = ca_.cert_pem();
    server.only_tls_1_2 = old_version;
    ExpectRefused(server,
                  old_version ? "refused by the server" : "client certificate missing or refused");
  }
}

TEST_F(ClientTlsTest, ClientCertificatesComeFromPemText) {
  const Identity identity = ca_.Issue({.names = {"client"}});
  options().tls.client_cert_pem = identity.cert_pem + ca_.cert_pem();
  options().tls.client_key_pem = identity.key_pem;
  auto server_options = Tls();
  server_options.client_ca_pem = ca_.cert_pem();
  ScriptedServer server(server_options,
                        Answering([](const SeenRequest&) { return OkAnswer("known"); }));
  const Outcome outcome = client().Send(Get(server), context());
  EXPECT_EQ(outcome.response.body, "known") << outcome.error.ToString();
}

TEST_F(ClientTlsTest, ACutBodyWithoutCloseNotifyIsTruncated) {
  bool clean = false;
  ScriptedServer server(Tls(), [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.SetCloseNotify(clean);
    connection.Write("HTTP/1.1 200 OK\r\n\r\nuntil the end");
  });
  const Outcome cut = client().Send(Get(server), context());
  EXPECT_EQ(cut.error.reason(), "TruncatedAnswer") << cut.error.ToString();
  EXPECT_EQ(cut.delivery, Delivery::kUnclear);
  clean = true;
  const Outcome whole = client().Send(Get(server), context());
  EXPECT_EQ(whole.response.body, "until the end") << whole.error.ToString();
}

TEST_F(ClientTlsTest, AConnectionClosedWhileIdleIsThrownAway) {
  ScriptedServer server(Tls(), [](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.SetCloseNotify(connection.index() == 0);
    connection.Write(OkAnswer("x"));
  });
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = client().Send(Get(server), context());
    EXPECT_EQ(outcome.response.body, "x") << outcome.error.ToString();
    EXPECT_FALSE(outcome.reused_connection);
    ASSERT_TRUE(server.AwaitIdle());
  }
}

TEST_F(ClientTlsTest, ASilentHandshakeEndsAtTheDeadline) {
  auto server_options = Tls();
  server_options.auto_handshake = false;
  ScriptedServer server(server_options, [](ScriptedConnection& connection) { connection.Hold(); });
  client();
  std::thread time([&] {
    ASSERT_TRUE(server.AwaitConnections(1));
    clock().Advance(std::chrono::seconds(4));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    clock().Advance(std::chrono::seconds(2));
  });
  const Outcome outcome = client().Send(Get(server), context(std::chrono::seconds(5)));
  time.join();
  EXPECT_EQ(outcome.error.code(), Code::kDeadlineExceeded) << outcome.error.ToString();
  EXPECT_EQ(outcome.delivery, Delivery::kNotSent);
  EXPECT_NE(outcome.error.message().find("handshake"), std::string::npos);
}

TEST_F(ClientTlsTest, ASilentHandshakeEndsAtTheConnectTimeout) {
  auto server_options = Tls();
  server_options.auto_handshake = false;
  ScriptedServer server(server_options, [](ScriptedConnection& connection) { connection.Hold(); });
  client();
  std::thread time([&] {
    ASSERT_TRUE(server.AwaitConnections(1));
    clock().Advance(std::chrono::seconds(10));
  });
  const Outcome outcome = client().Send(Get(server), context(std::chrono::minutes(5)));
  time.join();
  EXPECT_EQ(outcome.error.code(), Code::kUnavailable) << outcome.error.ToString();
  EXPECT_EQ(outcome.error.reason(), "ConnectFailed");
  EXPECT_EQ(outcome.delivery, Delivery::kNotSent);
}

TEST_F(ClientTlsTest, CancellingASilentHandshakeEndsIt) {
  auto server_options = Tls();
  server_options.auto_handshake = false;
  ScriptedServer server(server_options, [](ScriptedConnection& connection) { connection.Hold(); });
  client();
  std::thread cancel([&] {
    ASSERT_TRUE(server.AwaitConnections(1));
    cancellation().Cancel("Quiescing");
  });
  const Outcome outcome = client().Send(Get(server), context());  // the clock stands still
  cancel.join();
  EXPECT_EQ(outcome.error.code(), Code::kCancelled);
  EXPECT_EQ(outcome.error.reason(), "Quiescing");
  EXPECT_EQ(outcome.delivery, Delivery::kNotSent);
}

TEST_F(ClientTlsTest, OptionsThatCannotBeUsedAreNamed) {
  const Identity identity = ca_.Issue();
  const Identity other = ca_.Issue();
  const std::string encrypted =
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
  struct Case {
    std::function<void(TlsOptions&)> set;
    const char* says;
  };
  const auto pair = [](const std::string& cert, const std::string& key) {
    return [cert, key](TlsOptions& tls) {
      tls.client_cert_pem = cert;
      tls.client_key_pem = key;
    };
  };
  const auto ca = [](const std::string& pem) {
    return [pem](TlsOptions& tls) { tls.ca_pem = pem; };
  };
  const std::vector<Case> cases = {
      {[](TlsOptions& tls) { tls.ca_file = "/does/not/exist.pem"; },
       "\"/does/not/exist.pem\": No such file"},
      {ca("nonsense"), "CA (inline PEM): no certificate in it"},
      {ca(ca_.cert_pem() + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
       "CA (inline PEM)"},
      {[&](TlsOptions& tls) {
         tls.ca_pem = ca_.cert_pem();
         tls.insecure_skip_verify = true;
       },
       "exclude each other"},
      {pair(identity.cert_pem, ""), "client certificate without a key"},
      {pair("", identity.key_pem), "client key without a certificate"},
      {pair(identity.cert_pem, other.key_pem), "mismatch"},
      {pair("x", identity.key_pem), "client certificate: no"},
      {pair(identity.cert_pem, "x"), "client key: "},
      {pair(identity.cert_pem, encrypted), "encrypted"},
  };
  for (const Case& bad : cases) {
    ClientOptions options;
    bad.set(options.tls);
    const auto made = MakeClient(options, clock());
    ASSERT_FALSE(made.ok()) << bad.says;
    EXPECT_EQ(made.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(made.status().reason(), "BadTls");
    EXPECT_NE(made.status().message().find(bad.says), std::string::npos)
        << made.status().ToString();
    EXPECT_EQ(made.status().message().find("PRIVATE KEY"), std::string::npos);
  }
  ClientOptions two;
  two.tls.ca_pem = "x";
  two.tls.client_cert_pem = identity.cert_pem;
  const std::string message = MakeClient(two, clock()).status().message();
  EXPECT_NE(message.find("CA (inline PEM)"), std::string::npos) << message;
  EXPECT_NE(message.find("without a key"), std::string::npos) << message;
}

TEST_F(ClientTlsTest, TheAuthorityMayComeFromAFile) {
  char path[] = "/tmp/otc-http-ca-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  close(fd);
  std::ofstream(path) << "a comment\n" << ca_.cert_pem();
  options().tls.ca_pem.clear();
  options().tls.ca_file = path;
  ScriptedServer server(Tls(), Answering([](const SeenRequest&) { return OkAnswer("ok"); }));
  EXPECT_EQ(client().Send(Get(server), context()).response.body, "ok");
  std::remove(path);
}

}  // namespace
}  // namespace otc::host::http
