// Names of the Kubernetes API that the node controllers read and write. They
// are k8s.io/cloud-provider's and outlive every version.
#ifndef OTC_HOST_CONTROLLERS_NODE_NAMES_H_
#define OTC_HOST_CONTROLLERS_NODE_NAMES_H_

namespace otc::host {

inline constexpr char kTaintUninitialized[] = "node.cloudprovider.kubernetes.io/uninitialized";
inline constexpr char kTaintShutdown[] = "node.cloudprovider.kubernetes.io/shutdown";
inline constexpr char kEffectNoSchedule[] = "NoSchedule";

// Set by the kubelet from --node-ip.
inline constexpr char kAnnotationProvidedNodeIp[] = "alpha.kubernetes.io/provided-node-ip";

inline constexpr char kLabelZone[] = "topology.kubernetes.io/zone";
inline constexpr char kLabelRegion[] = "topology.kubernetes.io/region";
inline constexpr char kLabelInstanceType[] = "node.kubernetes.io/instance-type";
inline constexpr char kLabelZoneBeta[] = "failure-domain.beta.kubernetes.io/zone";
inline constexpr char kLabelRegionBeta[] = "failure-domain.beta.kubernetes.io/region";
inline constexpr char kLabelInstanceTypeBeta[] = "beta.kubernetes.io/instance-type";

// What providerIDs of this cloud begin with (otc:///<uuid>, otc://<uuid>).
inline constexpr char kProviderIdPrefix[] = "otc://";

// Sources of events.
inline constexpr char kNodeComponent[] = "cloud-node-controller";
inline constexpr char kLifecycleComponent[] = "cloud-node-lifecycle-controller";

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_NODE_NAMES_H_
