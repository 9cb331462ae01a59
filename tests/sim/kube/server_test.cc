// Credentials, reviews, discovery, tables, TLS and the control API.
#include "tests/sim/kube/server.h"

#include <Poco/Crypto/EVPPKey.h>
#include <Poco/Crypto/X509Certificate.h>
#include <Poco/Exception.h>
#include <Poco/Net/Context.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/sim/kube/table.h"
#include "tests/sim/kube/testing/sim_fixture.h"

namespace otc::kubesim {
namespace {

class ServerTest : public SimTest {
 protected:
  SimResponse As(const std::string& token, const std::string& method, const std::string& target,
                 const std::string& body = "") {
    return SimClient(port_).Do(method, target, body, "Authorization: Bearer " + token);
  }
};

TEST_F(ServerTest, C26_UnknownTokensAre401AndUsersAreBoundByTheirRules) {
  AddNode("a");
  ASSERT_TRUE(server_
                  ->AddUser({"reader",
                             "t1",
                             {},
                             R"([{"verbs":["get","list"],"groups":[""],"resources":["nodes"]}])"})
                  .ok());
  EXPECT_EQ(As("wrong", "GET", kNodes).status, 401);
  EXPECT_EQ(As("t1", "GET", kNodes).status, 200);
  const SimResponse forbidden = As("t1", "DELETE", "/api/v1/nodes/a");
  EXPECT_EQ(forbidden.status, 403);
  EXPECT_EQ(forbidden.reason(), "Forbidden");
  EXPECT_NE(forbidden.body.find("cannot delete resource"), std::string::npos);
  EXPECT_EQ(As("t1", "PATCH", "/api/v1/nodes/a/status", "{}").status, 403);
  EXPECT_EQ(As("t1", "GET", "/version").status, 200);
  EXPECT_EQ(As("t1", "GET", "/metrics").status, 403);
}

TEST_F(ServerTest, RequireAuthRefusesTheAnonymous) {
  Options options;
  options.require_auth = true;
  StartWith(options);
  EXPECT_EQ(Get(kNodes).status, 401);
}

TEST_F(ServerTest, BadRulesAreRefused) {
  EXPECT_FALSE(server_->AddUser({"u", "t", {}, "{}"}).ok());
  EXPECT_FALSE(server_->AddUser({"u", "t", {}, R"([{"verb":["get"]}])"}).ok());
  EXPECT_FALSE(server_->AddUser({"", "t", {}, "[]"}).ok());
}

TEST_F(ServerTest, P05_ReviewsAnswerFromTheSameUsers) {
  ASSERT_TRUE(
      server_->AddUser({"u", "t1", {"g"}, R"([{"verbs":["get"],"paths":["/metrics"]}])"}).ok());
  const Json known =
      Post("/apis/authentication.k8s.io/v1/tokenreviews", {{"spec", {{"token", "t1"}}}}).json();
  EXPECT_TRUE(BoolAt(known, {"status", "authenticated"}));
  EXPECT_EQ(TextAt(known, {"status", "user", "username"}), "u");
  const Json unknown =
      Post("/apis/authentication.k8s.io/v1/tokenreviews", {{"spec", {{"token", "x"}}}}).json();
  EXPECT_FALSE(BoolAt(unknown, {"status", "authenticated"}));
  const auto allowed = [&](const char* user) {
    const Json review =
        Post("/apis/authorization.k8s.io/v1/subjectaccessreviews",
             {{"spec",
               {{"user", user},
                {"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}}}}})
            .json();
    return BoolAt(review, {"status", "allowed"});
  };
  EXPECT_TRUE(allowed("u"));
  EXPECT_FALSE(allowed("other"));
  EXPECT_EQ(Get("/apis/authentication.k8s.io/v1/tokenreviews").status, 405);
}

TEST_F(ServerTest, P11_ServiceAccountTokensWork) {
  Post("/api/v1/namespaces/kube-system/serviceaccounts", {{"metadata", {{"name", "sa"}}}});
  const std::string target = "/api/v1/namespaces/kube-system/serviceaccounts/sa/token";
  const Json made = Post(target, {{"spec", {{"expirationSeconds", 600}}}}).json();
  EXPECT_EQ(TextAt(made, {"status", "expirationTimestamp"}), "2026-01-01T00:10:00Z");
  const Json review = Post("/apis/authentication.k8s.io/v1/tokenreviews",
                           {{"spec", {{"token", TextAt(made, {"status", "token"})}}}})
                          .json();
  EXPECT_EQ(TextAt(review, {"status", "user", "username"}), "system:serviceaccount:kube-system:sa");
  EXPECT_EQ(Post(target, {{"spec", {{"expirationSeconds", 60}}}}).status, 422);
}

TEST_F(ServerTest, DiscoveryListsWhatIsServed) {
  EXPECT_EQ(Get("/readyz").body, "ok");
  EXPECT_EQ(TextAt(Get("/version").json(), {"gitVersion"}), "v1.36.3");
  EXPECT_EQ(Get("/api").json()["versions"], Json::array({"v1"}));
  bool leases = false;
  const Json groups = Get("/apis").json();
  for (const Json& group : groups["groups"]) {
    leases |= group["name"] == "coordination.k8s.io";
    const SimResponse list = Get("/apis/" + TextAt(group, {"preferredVersion", "groupVersion"}));
    EXPECT_EQ(TextAt(list.json(), {"kind"}), "APIResourceList");
  }
  EXPECT_TRUE(leases);
}

TEST_F(ServerTest, AuthenticationConfigMapIsThere) {
  const Json map =
      Get("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication").json();
  EXPECT_TRUE(map["data"].contains("requestheader-username-headers"));
}

TEST_F(ServerTest, TablesForKubectl) {
  AddNode("a", {{"metadata", {{"labels", {{"node-role.kubernetes.io/worker", ""}}}}},
                {"status",
                 {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}},
                  {"addresses", {{{"type", "InternalIP"}, {"address", "10.0.0.1"}}}}}}});
  clock_.Advance(std::chrono::seconds(200));
  const Json table =
      Get(kNodes, "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json").json();
  EXPECT_EQ(TextAt(table, {"kind"}), "Table");
  ASSERT_EQ(table["rows"].size(), 1u);
  const Json& cells = table["rows"][0]["cells"];
  EXPECT_EQ(cells, Json::array({"a", "Ready", "worker", "3m20s", "", "10.0.0.1", "<none>",
                                "<unknown>", "<unknown>", "<unknown>"}));
  EXPECT_EQ(table["columnDefinitions"].size(), cells.size());
  EXPECT_EQ(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
}

TEST(Table, AgesReadAsKubectlPrintsThem) {
  const std::pair<std::int64_t, const char*> cases[] = {
      {-5, "<invalid>"}, {0, "0s"},          {119, "119s"},        {120, "2m"},
      {200, "3m20s"},    {600, "10m"},       {10'799, "179m"},     {10'800, "3h"},
      {12'000, "3h20m"}, {172'799, "47h"},   {172'800, "2d"},      {190'000, "2d4h"},
      {691'200, "8d"},   {63'072'000, "2y"}, {65'000'000, "2y22d"}};
  for (const auto& [seconds, text] : cases) {
    EXPECT_EQ(HumanDuration(seconds), text) << seconds;
  }
}

class TlsTest : public SimTest {
 protected:
  void SetUp() override { StartWith(Options(), /*keep_tls=*/true); }

  // The first line of the answer, or why there is none. Name and chain are verified.
  std::string FirstLine(const std::string& ca_pem, const std::string& peer,
                        const Server::ClientCertificate* client = nullptr) {
    using Poco::Net::Context;
    try {
      Context::Params params;
      params.verificationMode = Context::VERIFY_STRICT;
      params.loadDefaultCAs = false;
      Context::Ptr context = new Context(Context::TLS_CLIENT_USE, params);
      std::istringstream ca(ca_pem);
      context->addCertificateAuthority(Poco::Crypto::X509Certificate(ca));
      if (client != nullptr) {
        std::istringstream certificate(client->certificate);
        context->useCertificate(Poco::Crypto::X509Certificate(certificate));
        std::istringstream key(client->key);
        context->usePrivateKey(Poco::Crypto::EVPPKey(nullptr, &key));
      }
      Poco::Net::SecureStreamSocket socket(Poco::Net::SocketAddress("127.0.0.1", port_), peer,
                                           context);
      socket.setReceiveTimeout(Poco::Timespan(5, 0));
      const std::string request = "GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\n\r\n";
      socket.sendBytes(request.data(), static_cast<int>(request.size()));
      char bytes[4096];
      const int got = socket.receiveBytes(bytes, sizeof(bytes));
      const std::string text(bytes, got > 0 ? static_cast<std::size_t>(got) : 0);
      return text.substr(0, text.find('\r'));
    } catch (const Poco::Exception& error) {
      return error.displayText();
    }
  }
};

TEST_F(TlsTest, C30_ServesItsOwnCaAndNames) {
  EXPECT_EQ(server_->url().rfind("https://127.0.0.1:", 0), 0u);
  EXPECT_EQ(FirstLine(server_->ca_pem(), "127.0.0.1"), "HTTP/1.1 200 OK");
  EXPECT_EQ(FirstLine(server_->ca_pem(), "localhost"), "HTTP/1.1 200 OK");
  EXPECT_NE(FirstLine(server_->ca_pem(), "wrong.example"), "HTTP/1.1 200 OK");
  Server other{Options()};
  ASSERT_TRUE(other.Start().ok());
  EXPECT_NE(FirstLine(other.ca_pem(), "127.0.0.1"), "HTTP/1.1 200 OK");
}

TEST_F(TlsTest, C29_ClientCertificatesAreUsers) {
  const auto nobody = server_->IssueClientCertificate("nobody", {"guests"});
  const auto master = server_->IssueClientCertificate("boss", {"guests", "system:masters"});
  ASSERT_TRUE(nobody.ok() && master.ok());
  EXPECT_EQ(FirstLine(server_->ca_pem(), "127.0.0.1", &*nobody), "HTTP/1.1 403 Forbidden");
  EXPECT_EQ(FirstLine(server_->ca_pem(), "127.0.0.1", &*master), "HTTP/1.1 200 OK");
  EXPECT_EQ(server_->Calls().back().user, "boss");
}

TEST_F(TlsTest, KubeconfigCarriesCaAndToken) {
  const std::string config = server_->Kubeconfig();
  EXPECT_NE(config.find("server: " + server_->url()), std::string::npos);
  EXPECT_NE(config.find("certificate-authority-data: "), std::string::npos);
  EXPECT_NE(config.find("token: "), std::string::npos);
}

TEST_F(ServerTest, RequestsThatAreNoHttpOrTooLarge) {
  SimClient garbage(port_);
  garbage.Send("\x01\x02\x03", "x y z");
  EXPECT_EQ(garbage.ReadHead().status, 400);
  EXPECT_EQ(SimClient(port_).Get("/api/v1/nodes/%zz").status, 400);
  SimClient large(port_);
  large.Send("POST", kNodes, std::string(3 * 1024 * 1024 + 1, 'x'));
  EXPECT_EQ(large.ReadHead().status, 413);
}

TEST_F(ServerTest, ConnectionsAreKeptAndServeManyRequests) {
  SimClient client(port_);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(client.Get(kNodes).status, 200);
  }
  EXPECT_EQ(server_->counters().connections, 1u);
}

TEST_F(ServerTest, ObjectsInProcess) {
  EXPECT_FALSE(server_->AddNode("{}").ok());
  EXPECT_FALSE(server_->AddNode("no json").ok());
  EXPECT_FALSE(server_->AddNode(R"({"metadata":{"name":"a"},"spec":{"taints":7}})").ok());
  EXPECT_FALSE(server_->Put("gadgets", R"({"metadata":{"name":"a"}})").ok());
  ASSERT_TRUE(server_->AddNode(R"({"metadata":{"name":"a"}})").ok());
  EXPECT_EQ(server_->ListObjects("nodes").size(), 1u);
  const auto node = server_->GetObject("nodes", "", "a");
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(TextAt(*ParseJson(*node), {"metadata", "name"}), "a");
  ASSERT_TRUE(server_->DeleteObject("nodes", "", "a").ok());
  EXPECT_EQ(server_->GetObject("nodes", "", "a").status().code(), Code::kNotFound);
}

class ControlTest : public SimTest {
 protected:
  void SetUp() override {
    Options options;
    options.control = true;
    StartWith(options);
    const std::string url = server_->control_url();
    control_port_ = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  SimResponse Control(const std::string& method, const std::string& target,
                      const std::string& body = "") {
    return SimClient(control_port_).Do(method, target, body);
  }
  std::uint16_t control_port_ = 0;
};

TEST_F(ControlTest, FaultsCallsAndCounters) {
  const SimResponse armed =
      Control("POST", "/_sim/faults", R"([{"action":{"status":503}},{"action":{"status":500}}])");
  EXPECT_EQ(armed.status, 200) << armed.body;
  EXPECT_EQ(armed.json()["ids"].size(), 2u);
  EXPECT_EQ(Get(kNodes).status, 503);
  EXPECT_EQ(Control("GET", "/_sim/faults").json()[0]["hits"], 1);
  EXPECT_EQ(Control("DELETE", "/_sim/faults").status, 200);
  EXPECT_EQ(Get(kNodes).status, 200);
  const std::string calls = Control("GET", "/_sim/calls").body;
  EXPECT_NE(calls.find("\"status\":503"), std::string::npos);
  EXPECT_EQ(Control("GET", "/_sim/counters").json()["lists"], 2);
  EXPECT_EQ(Control("POST", "/_sim/faults", R"({"action":{"sttus":1}})").status, 400);
}

TEST_F(ControlTest, StateOfTheServer) {
  EXPECT_EQ(Control("POST", "/_sim/nodes", R"({"count":3,"prefix":"x"})").status, 200);
  EXPECT_EQ(Get(kNodes).json()["items"].size(), 3u);
  EXPECT_EQ(Control("POST", "/_sim/objects?resource=nodes", R"({"metadata":{"name":"y"}})").status,
            200);
  EXPECT_EQ(Control("POST", "/_sim/cache", R"({"resource":"nodes","hold":true})").status, 200);
  AddNode("z");
  EXPECT_EQ(Get(std::string(kNodes) + "?resourceVersion=0").json()["items"].size(), 4u);
  EXPECT_EQ(Control("POST", "/_sim/cache", R"({"resource":"nodes","hold":false})").status, 200);
  EXPECT_EQ(Control("POST", "/_sim/compact").status, 200);
  EXPECT_EQ(Get(std::string(kNodes) + "?resourceVersionMatch=Exact&resourceVersion=101").status,
            410);
  EXPECT_EQ(Control("POST", "/_sim/listener", R"({"open":false})").status, 200);
  EXPECT_FALSE(SimClient(port_).connected());
  EXPECT_EQ(Control("POST", "/_sim/listener", R"({"open":true})").status, 200);
  EXPECT_EQ(Control("POST", "/_sim/users", R"({"name":"u","token":"t"})").status, 200);
  EXPECT_EQ(Control("POST", "/_sim/reset").status, 200);
  EXPECT_TRUE(Get(kNodes).json()["items"].empty());
}

TEST_F(ControlTest, BadCallsSayWhatIsAllowed) {
  for (const auto& [target, body] : std::vector<std::pair<const char*, const char*>>{
           {"/_sim/nodes", R"({"count":0})"},
           {"/_sim/bookmarks", R"({"intervalMs":"x"})"},
           {"/_sim/connections", R"({"action":"hug"})"},
           {"/_sim/listener", "{}"},
           {"/_sim/cache", R"({"resource":"gadgets","hold":true})"},
           {"/_sim/faults", "no json"}}) {
    const SimResponse refused = Control("POST", target, body);
    EXPECT_EQ(refused.status, 400) << target;
    EXPECT_FALSE(TextAt(refused.json(), {"message"}).empty()) << target;
  }
  EXPECT_EQ(Control("GET", "/_sim/nothing").status, 404);
  EXPECT_EQ(Control("DELETE", "/_sim/faults?id=77").status, 404);
}

}  // namespace
}  // namespace otc::kubesim
