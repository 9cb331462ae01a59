// What of an object the host keeps in memory, whatever encoding it came in.
#ifndef OTC_HOST_KUBE_TRIM_H_
#define OTC_HOST_KUBE_TRIM_H_

#include <string_view>

#include "host/kube/types.h"

namespace otc::host::kube {

// The address that kubelet was told to use (--node-ip).
inline constexpr char kProvidedNodeIpAnnotation[] = "alpha.kubernetes.io/provided-node-ip";
// On the bookmark that ends the first part of a streaming list, value "true".
inline constexpr char kInitialEventsEndAnnotation[] = "k8s.io/initial-events-end";

// Annotations can be tens of kilobytes (last-applied-configuration), so only
// those that some controller reads are kept.
inline bool KeepAnnotation(std::string_view key) { return key == kProvidedNodeIpAnnotation; }

inline Tristate TristateFrom(std::string_view status) {
  if (status == "True") return Tristate::kTrue;
  return status == "False" ? Tristate::kFalse : Tristate::kUnknown;
}

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_TRIM_H_
