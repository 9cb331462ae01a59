// KubeConfig: which API server to talk to and as whom, from the pod's service
// account, from kubeconfig files or from --master.
//
// Files named here are only named: credentials.h reads them, again and again.
// Errors are INVALID_ARGUMENT "BadKubeconfig" (all problems of the files used,
// each with file, line and column), FAILED_PRECONDITION "NotInCluster" or those
// of reading a file. No error holds a credential.
#ifndef OTC_HOST_KUBE_CONFIG_H_
#define OTC_HOST_KUBE_CONFIG_H_

#include <functional>
#include <string>
#include <vector>

#include "host/http/client.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::kube {

// An environment variable's value, "" if it is not set.
using Environment = std::function<std::string(const std::string& name)>;
std::string ProcessEnvironment(const std::string& name);

inline constexpr char kServiceAccountDirectory[] = "/var/run/secrets/kubernetes.io/serviceaccount";

struct KubeConfig {
  std::string source;  // for logs: "service account", "kubeconfig /x (context y)"
  http::BaseUrl server;
  std::string namespace_ = "default";

  // Trust: the PEM text wins over the file; both empty: the system's roots.
  std::string ca_pem;
  std::string ca_file;
  std::string tls_server_name;
  bool insecure = false;

  // Client certificate: PEM texts win over files.
  std::string client_cert_pem;
  std::string client_key_pem;
  std::string client_cert_file;
  std::string client_key_file;

  // At most one kind; a token file beats a token while it is readable.
  std::string token;
  std::string token_file;
  std::string username;
  std::string password;

  std::vector<std::string> warnings;  // for the caller to log
};

struct ConfigFlags {
  std::string kubeconfig;  // --kubeconfig
  std::string master;      // --master
};

// Both flags empty: the service account of the pod, else $KUBECONFIG, else
// ~/.kube/config. With --kubeconfig only that file. --master replaces the
// server's address; alone it means no credentials at all.
Result<KubeConfig> LoadConfig(
    const ConfigFlags& flags, const Environment& environment = ProcessEnvironment,
    const std::string& service_account_directory = kServiceAccountDirectory);

Result<KubeConfig> LoadInClusterConfig(const Environment& environment,
                                       const std::string& service_account_directory);

// One or several files; of a name that occurs in several the first file wins.
// Files that do not exist are skipped unless all are missing.
Result<KubeConfig> LoadKubeconfigFiles(const std::vector<std::string>& paths);

// "https://" or "http://" put before a server without a scheme, then parsed.
Result<http::BaseUrl> ParseServer(const std::string& server, bool has_tls_settings);

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_CONFIG_H_
