// A kubeconfig file for one cluster and one user, everything inline.
#ifndef OTC_TESTS_SIM_KUBE_KUBECONFIG_H_
#define OTC_TESTS_SIM_KUBE_KUBECONFIG_H_

#include <string>

namespace otc::kubesim {

std::string MakeKubeconfig(const std::string& server_url, const std::string& ca_pem,
                           const std::string& user, const std::string& token);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_KUBECONFIG_H_
