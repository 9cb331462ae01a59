#include "host/kube/config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace otc::host::kube {
namespace {

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() : directory_(::testing::TempDir() + "kubeconfig." + std::to_string(getpid())) {
    std::filesystem::create_directories(directory_ + "/sub");
  }
  ~ConfigTest() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << content;
    return path;
  }
  Environment Env() {
    return [this](const std::string& name) {
      const auto it = environment_.find(name);
      return it == environment_.end() ? std::string() : it->second;
    };
  }
  Result<KubeConfig> Load(const std::string& content) {
    return LoadKubeconfigFiles({Write("config", content)});
  }
  // One context with these lines under cluster and user.
  Result<KubeConfig> LoadWith(const std::string& cluster, const std::string& user) {
    return Load(
        "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
        "clusters: [{name: k, cluster: {" +
        cluster +
        "}}]\n"
        "users: [{name: u, user: {" +
        user + "}}]\n");
  }

  const std::string directory_;
  std::map<std::string, std::string> environment_;
};

constexpr char kFull[] = R"(apiVersion: v1
kind: Config
preferences: {}
current-context: prod
contexts:
- name: prod
  context:
    cluster: main
    user: admin
    namespace: infra
- name: other
  context: {cluster: second, user: nobody}
clusters:
- name: main
  cluster:
    server: https://10.0.0.1:6443/k8s/clusters/c-1/
    certificate-authority: pki/ca.crt
    tls-server-name: api.internal
- name: second
  cluster: {server: "https://[fd00::1]:6443", certificate-authority-data: Q0E=}
users:
- name: admin
  user:
    client-certificate: /abs/admin.crt
    client-key: ../admin.key
- name: nobody
  user: {}
)";

TEST_F(ConfigTest, C31_ReadsTheCurrentContext) {
  const auto config = Load(kFull);
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->server.origin.ToString(), "https://10.0.0.1:6443");
  EXPECT_EQ(config->server.prefix, "/k8s/clusters/c-1");
  EXPECT_EQ(config->namespace_, "infra");
  EXPECT_EQ(config->tls_server_name, "api.internal");
  EXPECT_EQ(config->ca_file, directory_ + "/pki/ca.crt") << "relative to the file's folder";
  EXPECT_EQ(config->client_cert_file, "/abs/admin.crt");
  EXPECT_EQ(config->client_key_file, directory_ + "/../admin.key");
  EXPECT_FALSE(config->insecure);
}

TEST_F(ConfigTest, C31_Ipv6ServerAndDataBeatsFile) {
  std::string text = kFull;
  text.replace(text.find("prod"), 4, "other");
  const auto config = Load(text);
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->server.origin.host, "fd00::1");
  EXPECT_EQ(config->server.origin.port, 6443);
  EXPECT_EQ(config->ca_pem, "CA");
  const auto both =
      LoadWith("server: 'https://a', certificate-authority-data: Q0E=, certificate-authority: f",
               "client-certificate-data: Q0VSVA==, client-certificate: f, client-key-data: S0VZ");
  ASSERT_TRUE(both.ok()) << both.status().ToString();
  EXPECT_EQ(both->ca_pem, "CA");
  EXPECT_EQ(both->ca_file, "");
  EXPECT_EQ(both->client_cert_pem, "CERT");
  EXPECT_EQ(both->client_key_pem, "KEY");
}

TEST_F(ConfigTest, C31_TheFirstOfSeveralFilesWinsAndMissingOnesAreSkipped) {
  const std::string first = Write("sub/first", R"(
contexts: [{name: c, context: {cluster: k, user: u}}]
users: [{name: u, user: {tokenFile: tok}}]
)");
  const std::string second = Write("second", R"(
current-context: c
contexts: [{name: c, context: {cluster: wrong, user: wrong}}]
clusters: [{name: k, cluster: {server: "https://second", certificate-authority: ca}}]
users: [{name: u, user: {token: wrong}}]
)");
  environment_["KUBECONFIG"] = directory_ + "/none:" + first + "::" + second;
  const auto config = LoadConfig({}, Env(), directory_ + "/no-service-account");
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->server.origin.host, "second");
  EXPECT_EQ(config->token_file, directory_ + "/sub/tok") << "relative to the file that names it";
  EXPECT_EQ(config->ca_file, directory_ + "/ca");
  EXPECT_EQ(config->token, "");
}

TEST_F(ConfigTest, C31_MissingContextClusterAndUserAreNamedWithWhatThereIs) {
  auto error = [&](const std::string& text) { return Load(text).status().message(); };
  std::string message = error("current-context: x\ncontexts: [{name: c, context: {cluster: k}}]\n");
  EXPECT_NE(message.find("config:1:18: there is no context named \"x\"; there are: c"),
            std::string::npos)
      << message;
  message = error("current-context: c\ncontexts:\n- name: c\n  context: {cluster: k, user: u}\n");
  EXPECT_NE(message.find("no user named \"u\""), std::string::npos) << message;
  EXPECT_NE(message.find("no cluster named \"k\""), std::string::npos)
      << "all problems at once: " << message;
  message = error("contexts: []\n");
  EXPECT_NE(message.find("current-context is not set"), std::string::npos) << message;
}

TEST_F(ConfigTest, C31_ProxyUrlIsAClearError) {
  const auto config = LoadWith("server: 'https://a', proxy-url: 'http://p:3128'", "token: t");
  EXPECT_EQ(config.status().reason(), "BadKubeconfig");
  EXPECT_NE(config.status().message().find("proxy-url is not supported"), std::string::npos);
  EXPECT_TRUE(LoadWith("server: 'https://a', proxy-url: ''", "token: t").ok());
}

TEST_F(ConfigTest, C32_ExecPluginsAreAClearErrorUnlessOtherCredentialsAreGiven) {
  const std::string exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}";
  const auto config = LoadWith("server: 'https://a'", exec);
  EXPECT_NE(config.status().message().find("credential plugins (exec) are not supported yet"),
            std::string::npos)
      << config.status().ToString();
  EXPECT_TRUE(LoadWith("server: 'https://a'", exec + ", token: t").ok());
}

TEST_F(ConfigTest, BadSettingsAreReportedAllAtOnceWithTheirPlace) {
  const auto config = Load(R"(current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters:
- name: k
  cluster:
    server: ftp://x
    certificate-authority-data: "%%%"
    insecure-skip-tls-verify: maybe
users:
- name: u
  user:
    client-certificate: only.crt
    as: root
)");
  const std::string message = config.status().message();
  for (const char* part : {"config:6:", "config:7:33: certificate-authority-data must be base64",
                           "config:8:31: insecure-skip-tls-verify must be true or false",
                           "no client key", "impersonation (as) is not supported"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
}

TEST_F(ConfigTest, ContradictionsAreRefused) {
  EXPECT_NE(LoadWith("server: 'https://a', insecure-skip-tls-verify: true, "
                     "certificate-authority-data: Q0E=",
                     "")
                .status()
                .message()
                .find("exclude each other"),
            std::string::npos);
  EXPECT_NE(LoadWith("server: 'https://a'", "token: t, username: u, password: p")
                .status()
                .message()
                .find("exclude each other"),
            std::string::npos);
  EXPECT_NE(LoadWith("tls-server-name: x", "").status().message().find("no server"),
            std::string::npos);
}

TEST_F(ConfigTest, NoErrorHoldsACredential) {
  for (const char* user : {"token: [SECRET1]", "client-key-data: SECRET2!",
                           "password: {SECRET3: SECRET3}", "token: SECRET4, token: SECRET4"}) {
    const Status status = LoadWith("server: 'https://a'", user).status();
    EXPECT_FALSE(status.ok()) << user;
    EXPECT_EQ(status.message().find("SECRET"), std::string::npos) << status.message();
  }
}

TEST_F(ConfigTest, BrokenFilesAreErrorsAndNoCrash) {
  for (const char* text : {"", "[]", "a: [", "clusters: 5\ncurrent-context: c", "\xff\xfe",
                           "clusters: [5]\ncurrent-context: c", "clusters: [{cluster: {}}]",
                           "current-context: {a: b}", "contexts: [{name: c}]\ncurrent-context: c",
                           "contexts: [{name: c, context: }]\ncurrent-context: c"}) {
    const auto config = Load(text);
    EXPECT_FALSE(config.ok()) << text;
    EXPECT_FALSE(config.status().message().empty());
  }
}

TEST_F(ConfigTest, SchemesAreCompletedAndCredentialsStayOffPlainHttp) {
  auto config = LoadWith("server: 'a:8080'", "token: t");
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->server.origin.ToString(), "http://a:8080");
  EXPECT_EQ(config->token, "");
  EXPECT_EQ(config->warnings.size(), 1u);
  config = LoadWith("server: 'a:6443', insecure-skip-tls-verify: true", "token: t");
  ASSERT_TRUE(config.ok());
  EXPECT_TRUE(config->server.origin.tls);
  EXPECT_EQ(config->token, "t");
}

TEST_F(ConfigTest, C33_InClusterWithIpv6HostAndNamespaceFile) {
  Write("token", "t\n");
  Write("ca.crt", "CA");
  Write("namespace", "kube-system\n");
  environment_ = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  auto config = LoadConfig({}, Env(), directory_);
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->server.origin.ToString(), "https://[fd00::1]");
  EXPECT_EQ(config->token_file, directory_ + "/token");
  EXPECT_EQ(config->ca_file, directory_ + "/ca.crt");
  EXPECT_EQ(config->namespace_, "kube-system");
  environment_["POD_NAMESPACE"] = "from-env";
  EXPECT_EQ(LoadConfig({}, Env(), directory_)->namespace_, "from-env");
  std::filesystem::remove(directory_ + "/ca.crt");
  config = LoadConfig({}, Env(), directory_);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->ca_file, "");
  EXPECT_EQ(config->warnings.size(), 1u);
}

TEST_F(ConfigTest, C33_WithoutTheEnvironmentItFallsBackToKubeconfig) {
  std::filesystem::create_directories(directory_ + "/.kube");
  Write(".kube/config", kFull);
  environment_["HOME"] = directory_;
  const auto config = LoadConfig({}, Env(), directory_);
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_NE(config->source.find(".kube/config"), std::string::npos);
}

TEST_F(ConfigTest, WithNothingAtAllTheErrorNamesBothWays) {
  const Status status = LoadConfig({}, Env(), directory_).status();
  EXPECT_NE(status.message().find("KUBERNETES_SERVICE_HOST"), std::string::npos);
  EXPECT_NE(status.message().find("kubeconfig"), std::string::npos);
}

TEST_F(ConfigTest, FlagsWin) {
  Write("token", "t");
  environment_ = {{"KUBERNETES_SERVICE_HOST", "10.0.0.9"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  const std::string path = Write("config", kFull);
  auto config = LoadConfig({path, ""}, Env(), directory_);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->server.origin.host, "10.0.0.1");
  config = LoadConfig({path, "https://10.0.0.2:6444"}, Env(), directory_);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->server.origin.ToString(), "https://10.0.0.2:6444");
  EXPECT_EQ(config->client_cert_file, "/abs/admin.crt");
  config = LoadConfig({"", "http://127.0.0.1:8001"}, Env(), directory_);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->token_file, "");
  EXPECT_EQ(LoadConfig({directory_ + "/none", ""}, Env(), directory_).status().code(),
            Code::kNotFound);
  EXPECT_EQ(LoadConfig({"", "https://"}, Env(), directory_).status().code(),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace otc::host::kube
