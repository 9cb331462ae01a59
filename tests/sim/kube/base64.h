// Base64, as JSON carries bytes.
#ifndef OTC_TESTS_SIM_KUBE_BASE64_H_
#define OTC_TESTS_SIM_KUBE_BASE64_H_

#include <string>
#include <string_view>

namespace otc::kubesim {

std::string EncodeBase64(std::string_view bytes);
// Stops at padding or at what is not base64.
std::string DecodeBase64(std::string_view text);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_BASE64_H_
