#include "tests/sim/kube/kubeconfig.h"

#include "host/base/strings.h"
#include "tests/sim/kube/base64.h"

namespace otc::kubesim {

std::string MakeKubeconfig(const std::string& server_url, const std::string& ca_pem,
                           const std::string& user, const std::string& token) {
  std::string text =
      "apiVersion: v1\n"
      "kind: Config\n"
      "current-context: kube-sim\n"
      "clusters:\n"
      "- name: kube-sim\n"
      "  cluster:\n"
      "    server: " +
      server_url + "\n";
  if (!ca_pem.empty()) {
    text += "    certificate-authority-data: " + EncodeBase64(ca_pem) + "\n";
  }
  // A JSON string is also a YAML one.
  text +=
      "contexts:\n"
      "- name: kube-sim\n"
      "  context:\n"
      "    cluster: kube-sim\n"
      "    user: " +
      host::JsonQuote(user) +
      "\n"
      "users:\n"
      "- name: " +
      host::JsonQuote(user) + "\n";
  text += token.empty() ? "  user: {}\n" : "  user:\n    token: " + host::JsonQuote(token) + "\n";
  return text;
}

}  // namespace otc::kubesim
