#include "host/kube/config.h"

#include <cstdlib>

#include "host/base/files.h"
#include "host/base/strings.h"

namespace otc::host::kube {
namespace {

std::vector<std::string> DefaultKubeconfigPaths(const Environment& environment) {
  const std::string list = environment("KUBECONFIG");
  std::vector<std::string> paths;
  for (const std::string& path : Split(list, ':')) {
    if (!path.empty()) paths.push_back(path);
  }
  if (paths.empty() && !environment("HOME").empty()) {
    paths.push_back(environment("HOME") + "/.kube/config");
  }
  return paths;
}

bool HasTlsSettings(const KubeConfig& config) {
  return config.insecure || !config.ca_pem.empty() || !config.ca_file.empty() ||
         !config.client_cert_pem.empty() || !config.client_cert_file.empty();
}

Result<KubeConfig> WithMaster(KubeConfig config, const std::string& master) {
  Result<http::BaseUrl> server = ParseServer(master, HasTlsSettings(config));
  if (!server.ok()) return server.status().WithPrefix("--master: ");
  config.server = std::move(server).value();
  return config;
}

}  // namespace

std::string ProcessEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

Result<http::BaseUrl> ParseServer(const std::string& server, bool has_tls_settings) {
  if (server.find("://") != std::string::npos) return http::ParseBaseUrl(server);
  return http::ParseBaseUrl((has_tls_settings ? "https://" : "http://") + server);
}

Result<KubeConfig> LoadInClusterConfig(const Environment& environment,
                                       const std::string& directory) {
  const std::string host = environment("KUBERNETES_SERVICE_HOST");
  const std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return Status(Code::kFailedPrecondition, "NotInCluster",
                  "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is no "
                  "pod of a cluster");
  }
  KubeConfig config;
  config.source = "service account";
  const bool ipv6 = host.find(':') != std::string::npos && host.front() != '[';
  Result<http::BaseUrl> server =
      http::ParseBaseUrl("https://" + (ipv6 ? "[" + host + "]" : host) + ":" + port);
  if (!server.ok()) {
    return server.status().WithPrefix("KUBERNETES_SERVICE_HOST and _PORT: ");
  }
  config.server = std::move(server).value();

  config.token_file = directory + "/token";
  Result<std::string> token = ReadSmallFile(config.token_file);
  if (!token.ok()) return token.status().WithPrefix("service account token: ");
  const std::string ca_file = directory + "/ca.crt";
  if (const Result<std::string> ca = ReadSmallFile(ca_file); ca.ok()) {
    config.ca_file = ca_file;
  } else {
    config.warnings.push_back(ca.status().message() + "; the system's roots are trusted instead");
  }
  config.namespace_ = environment("POD_NAMESPACE");
  if (config.namespace_.empty()) {
    const Result<std::string> content = ReadSmallFile(directory + "/namespace");
    if (content.ok()) config.namespace_ = TrimSpace(content.value());
  }
  if (config.namespace_.empty()) config.namespace_ = "default";
  return config;
}

Result<KubeConfig> LoadConfig(const ConfigFlags& flags, const Environment& environment,
                              const std::string& service_account_directory) {
  if (!flags.kubeconfig.empty()) {
    Result<KubeConfig> config = LoadKubeconfigFiles({flags.kubeconfig});
    if (!config.ok() || flags.master.empty()) return config;
    return WithMaster(std::move(config).value(), flags.master);
  }
  if (!flags.master.empty()) {
    KubeConfig config;
    config.source = "--master";
    return WithMaster(std::move(config), flags.master);
  }
  Result<KubeConfig> in_cluster = LoadInClusterConfig(environment, service_account_directory);
  if (in_cluster.ok()) return in_cluster;
  Result<KubeConfig> config = LoadKubeconfigFiles(DefaultKubeconfigPaths(environment));
  if (!config.ok()) {
    return config.status().WithPrefix(in_cluster.status().message() + "; ");
  }
  if (in_cluster.status().reason() != "NotInCluster") {
    config->warnings.push_back(in_cluster.status().message() + "; using " + config->source);
  }
  return config;
}

}  // namespace otc::host::kube
