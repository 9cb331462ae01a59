#include "tests/sim/kube/schema.h"

namespace otc::kubesim {
namespace {

using enum FieldType;
using enum Shape;

const MessageType& OwnerReferenceType() {
  static const MessageType type{"OwnerReference",
                                {{"kind", 1, kString, kAlways},
                                 {"name", 3, kString, kAlways},
                                 {"uid", 4, kString, kAlways},
                                 {"apiVersion", 5, kString, kAlways},
                                 {"controller", 6, kBool, kOptional},
                                 {"blockOwnerDeletion", 7, kBool, kOptional}}};
  return type;
}

const MessageType& ManagedFieldsEntryType() {
  static const MessageType type{"ManagedFieldsEntry",
                                {{"manager", 1, kString, kAlways},
                                 {"operation", 2, kString, kAlways},
                                 {"apiVersion", 3, kString, kAlways},
                                 {"time", 4, kTime, kOptional},
                                 {"fieldsType", 6, kString, kAlways},
                                 {"fieldsV1", 7, kFieldsV1, kOptional},
                                 {"subresource", 8, kString, kAlways}}};
  return type;
}

const MessageType& TaintType() {
  static const MessageType type{"Taint",
                                {{"key", 1, kString, kAlways},
                                 {"value", 2, kString, kAlways},
                                 {"effect", 3, kString, kAlways},
                                 {"timeAdded", 4, kTime, kOptional}}};
  return type;
}

const MessageType& NodeSpecType() {
  static const MessageType type{
      "NodeSpec",
      {{"podCIDR", 1, kString, kAlways},
       {"externalID", 2, kString, kAlways},
       {"providerID", 3, kString, kAlways},
       {"unschedulable", 4, kBool, kAlways},
       {"taints", 5, kMessage, kRepeated, &TaintType()},
       {"podCIDRs", 7, kString, kRepeated, nullptr, {}, /*merge_as_set=*/true}}};
  return type;
}

const MessageType& NodeConditionType() {
  static const MessageType type{"NodeCondition",
                                {{"type", 1, kString, kAlways},
                                 {"status", 2, kString, kAlways},
                                 {"lastHeartbeatTime", 3, kTime, kAlways},
                                 {"lastTransitionTime", 4, kTime, kAlways},
                                 {"reason", 5, kString, kAlways},
                                 {"message", 6, kString, kAlways}}};
  return type;
}

const MessageType& NodeAddressType() {
  static const MessageType type{"NodeAddress",
                                {{"type", 1, kString, kAlways}, {"address", 2, kString, kAlways}}};
  return type;
}

const MessageType& DaemonEndpointsType() {
  static const MessageType endpoint{"DaemonEndpoint", {{"Port", 1, kInt32, kAlways}}};
  static const MessageType type{"NodeDaemonEndpoints",
                                {{"kubeletEndpoint", 1, kMessage, kAlways, &endpoint}}};
  return type;
}

const MessageType& NodeSystemInfoType() {
  static const MessageType swap{"NodeSwapStatus", {{"capacity", 1, kInt64, kOptional}}};
  static const MessageType type{"NodeSystemInfo",
                                {{"machineID", 1, kString, kAlways},
                                 {"systemUUID", 2, kString, kAlways},
                                 {"bootID", 3, kString, kAlways},
                                 {"kernelVersion", 4, kString, kAlways},
                                 {"osImage", 5, kString, kAlways},
                                 {"containerRuntimeVersion", 6, kString, kAlways},
                                 {"kubeletVersion", 7, kString, kAlways},
                                 {"kubeProxyVersion", 8, kString, kAlways},
                                 {"operatingSystem", 9, kString, kAlways},
                                 {"architecture", 10, kString, kAlways},
                                 {"swap", 11, kMessage, kOptional, &swap}}};
  return type;
}

const MessageType& ContainerImageType() {
  static const MessageType type{
      "ContainerImage", {{"names", 1, kString, kRepeated}, {"sizeBytes", 2, kInt64, kAlways}}};
  return type;
}

const MessageType& AttachedVolumeType() {
  static const MessageType type{
      "AttachedVolume", {{"name", 1, kString, kAlways}, {"devicePath", 2, kString, kAlways}}};
  return type;
}

const MessageType& RuntimeHandlerType() {
  static const MessageType features{
      "NodeRuntimeHandlerFeatures",
      {{"recursiveReadOnlyMounts", 1, kBool, kOptional}, {"userNamespaces", 2, kBool, kOptional}}};
  static const MessageType type{
      "NodeRuntimeHandler",
      {{"name", 1, kString, kAlways}, {"features", 2, kMessage, kOptional, &features}}};
  return type;
}

const MessageType& NodeStatusType() {
  static const MessageType features{"NodeFeatures",
                                    {{"supplementalGroupsPolicy", 1, kBool, kOptional}}};
  static const MessageType type{
      "NodeStatus",
      {{"capacity", 1, kQuantity, kMap},
       {"allocatable", 2, kQuantity, kMap},
       {"phase", 3, kString, kAlways},
       {"conditions", 4, kMessage, kRepeated, &NodeConditionType(), "type"},
       {"addresses", 5, kMessage, kRepeated, &NodeAddressType(), "type"},
       {"daemonEndpoints", 6, kMessage, kAlways, &DaemonEndpointsType()},
       {"nodeInfo", 7, kMessage, kAlways, &NodeSystemInfoType()},
       {"images", 8, kMessage, kRepeated, &ContainerImageType()},
       {"volumesInUse", 9, kString, kRepeated},
       {"volumesAttached", 10, kMessage, kRepeated, &AttachedVolumeType()},
       {"runtimeHandlers", 12, kMessage, kRepeated, &RuntimeHandlerType()},
       {"features", 13, kMessage, kOptional, &features},
       {"declaredFeatures", 14, kString, kRepeated}}};
  return type;
}

const MessageType& ObjectReferenceType() {
  static const MessageType type{"ObjectReference",
                                {{"kind", 1, kString, kAlways},
                                 {"namespace", 2, kString, kAlways},
                                 {"name", 3, kString, kAlways},
                                 {"uid", 4, kString, kAlways},
                                 {"apiVersion", 5, kString, kAlways},
                                 {"resourceVersion", 6, kString, kAlways},
                                 {"fieldPath", 7, kString, kAlways}}};
  return type;
}

const MessageType& ConditionType() {
  static const MessageType type{"Condition",
                                {{"type", 1, kString, kAlways},
                                 {"status", 2, kString, kAlways},
                                 {"observedGeneration", 3, kInt64, kAlways},
                                 {"lastTransitionTime", 4, kTime, kAlways},
                                 {"reason", 5, kString, kAlways},
                                 {"message", 6, kString, kAlways}}};
  return type;
}

}  // namespace

const FieldInfo* MessageType::Field(std::string_view field_name) const {
  for (const FieldInfo& field : fields) {
    if (field.name == field_name) {
      return &field;
    }
  }
  return nullptr;
}

const MessageType& ObjectMetaType() {
  static const MessageType type{
      "ObjectMeta",
      {{"name", 1, kString, kAlways},
       {"generateName", 2, kString, kAlways},
       {"namespace", 3, kString, kAlways},
       {"selfLink", 4, kString, kAlways},
       {"uid", 5, kString, kAlways},
       {"resourceVersion", 6, kString, kAlways},
       {"generation", 7, kInt64, kAlways},
       {"creationTimestamp", 8, kTime, kAlways},
       {"deletionTimestamp", 9, kTime, kOptional},
       {"deletionGracePeriodSeconds", 10, kInt64, kOptional},
       {"labels", 11, kString, kMap},
       {"annotations", 12, kString, kMap},
       {"ownerReferences", 13, kMessage, kRepeated, &OwnerReferenceType(), "uid"},
       {"finalizers", 14, kString, kRepeated, nullptr, {}, /*merge_as_set=*/true},
       {"managedFields", 17, kMessage, kRepeated, &ManagedFieldsEntryType()}}};
  return type;
}

const MessageType& ListMetaType() {
  static const MessageType type{"ListMeta",
                                {{"selfLink", 1, kString, kAlways},
                                 {"resourceVersion", 2, kString, kAlways},
                                 {"continue", 3, kString, kAlways},
                                 {"remainingItemCount", 4, kInt64, kOptional}}};
  return type;
}

const MessageType& StatusType() {
  static const MessageType cause{"StatusCause",
                                 {{"reason", 1, kString, kAlways},
                                  {"message", 2, kString, kAlways},
                                  {"field", 3, kString, kAlways}}};
  static const MessageType details{"StatusDetails",
                                   {{"name", 1, kString, kAlways},
                                    {"group", 2, kString, kAlways},
                                    {"kind", 3, kString, kAlways},
                                    {"causes", 4, kMessage, kRepeated, &cause},
                                    {"retryAfterSeconds", 5, kInt32, kAlways},
                                    {"uid", 6, kString, kAlways}}};
  static const MessageType type{"Status",
                                {{"metadata", 1, kMessage, kAlways, &ListMetaType()},
                                 {"status", 2, kString, kAlways},
                                 {"message", 3, kString, kAlways},
                                 {"reason", 4, kString, kAlways},
                                 {"details", 5, kMessage, kOptional, &details},
                                 {"code", 6, kInt32, kAlways}}};
  return type;
}

const MessageType& NodeType() {
  static const MessageType type{"Node",
                                {{"metadata", 1, kMessage, kAlways, &ObjectMetaType()},
                                 {"spec", 2, kMessage, kAlways, &NodeSpecType()},
                                 {"status", 3, kMessage, kAlways, &NodeStatusType()}}};
  return type;
}

const MessageType& LeaseType() {
  static const MessageType spec{"LeaseSpec",
                                {{"holderIdentity", 1, kString, kOptional},
                                 {"leaseDurationSeconds", 2, kInt32, kOptional},
                                 {"acquireTime", 3, kMicroTime, kOptional},
                                 {"renewTime", 4, kMicroTime, kOptional},
                                 {"leaseTransitions", 5, kInt32, kOptional},
                                 {"strategy", 6, kString, kOptional},
                                 {"preferredHolder", 7, kString, kOptional}}};
  static const MessageType type{"Lease",
                                {{"metadata", 1, kMessage, kAlways, &ObjectMetaType()},
                                 {"spec", 2, kMessage, kAlways, &spec}}};
  return type;
}

const MessageType& EventType() {
  static const MessageType source{
      "EventSource", {{"component", 1, kString, kAlways}, {"host", 2, kString, kAlways}}};
  static const MessageType series{
      "EventSeries", {{"count", 1, kInt32, kAlways}, {"lastObservedTime", 2, kMicroTime, kAlways}}};
  static const MessageType type{"Event",
                                {{"metadata", 1, kMessage, kAlways, &ObjectMetaType()},
                                 {"involvedObject", 2, kMessage, kAlways, &ObjectReferenceType()},
                                 {"reason", 3, kString, kAlways},
                                 {"message", 4, kString, kAlways},
                                 {"source", 5, kMessage, kAlways, &source},
                                 {"firstTimestamp", 6, kTime, kAlways},
                                 {"lastTimestamp", 7, kTime, kAlways},
                                 {"count", 8, kInt32, kAlways},
                                 {"type", 9, kString, kAlways},
                                 {"eventTime", 10, kMicroTime, kAlways},
                                 {"series", 11, kMessage, kOptional, &series},
                                 {"action", 12, kString, kAlways},
                                 {"related", 13, kMessage, kOptional, &ObjectReferenceType()},
                                 {"reportingComponent", 14, kString, kAlways},
                                 {"reportingInstance", 15, kString, kAlways}}};
  return type;
}

const MessageType& NamespaceType() {
  static const MessageType spec{"NamespaceSpec", {{"finalizers", 1, kString, kRepeated}}};
  static const MessageType status{
      "NamespaceStatus",
      {{"phase", 1, kString, kAlways},
       {"conditions", 2, kMessage, kRepeated, &NodeConditionType(), "type"}}};
  static const MessageType type{"Namespace",
                                {{"metadata", 1, kMessage, kAlways, &ObjectMetaType()},
                                 {"spec", 2, kMessage, kAlways, &spec},
                                 {"status", 3, kMessage, kAlways, &status}}};
  return type;
}

const MessageType& ConfigMapType() {
  static const MessageType type{"ConfigMap",
                                {{"metadata", 1, kMessage, kAlways, &ObjectMetaType()},
                                 {"data", 2, kString, kMap},
                                 {"binaryData", 3, kBytes, kMap},
                                 {"immutable", 4, kBool, kOptional}}};
  return type;
}

const MessageType& ServiceType() {
  static const MessageType port{"ServicePort",
                                {{"name", 1, kString, kAlways},
                                 {"protocol", 2, kString, kAlways},
                                 {"port", 3, kInt32, kAlways},
                                 {"targetPort", 4, kIntOrString, kAlways},
                                 {"nodePort", 5, kInt32, kAlways},
                                 {"appProtocol", 6, kString, kOptional}}};
  static const MessageType client_ip{"ClientIPConfig", {{"timeoutSeconds", 1, kInt32, kOptional}}};
  static const MessageType affinity{"SessionAffinityConfig",
                                    {{"clientIP", 1, kMessage, kOptional, &client_ip}}};
  static const MessageType spec{"ServiceSpec",
                                {{"ports", 1, kMessage, kRepeated, &port, "port"},
                                 {"selector", 2, kString, kMap},
                                 {"clusterIP", 3, kString, kAlways},
                                 {"type", 4, kString, kAlways},
                                 {"externalIPs", 5, kString, kRepeated},
                                 {"sessionAffinity", 7, kString, kAlways},
                                 {"loadBalancerIP", 8, kString, kAlways},
                                 {"loadBalancerSourceRanges", 9, kString, kRepeated},
                                 {"externalName", 10, kString, kAlways},
                                 {"externalTrafficPolicy", 11, kString, kAlways},
                                 {"healthCheckNodePort", 12, kInt32, kAlways},
                                 {"publishNotReadyAddresses", 13, kBool, kAlways},
                                 {"sessionAffinityConfig", 14, kMessage, kOptional, &affinity},
                                 {"ipFamilyPolicy", 17, kString, kOptional},
                                 {"clusterIPs", 18, kString, kRepeated},
                                 {"ipFamilies", 19, kString, kRepeated},
                                 {"allocateLoadBalancerNodePorts", 20, kBool, kOptional},
                                 {"loadBalancerClass", 21, kString, kOptional},
                                 {"internalTrafficPolicy", 22, kString, kOptional},
                                 {"trafficDistribution", 23, kString, kOptional}}};
  static const MessageType port_status{"PortStatus",
                                       {{"port", 1, kInt32, kAlways},
                                        {"protocol", 2, kString, kAlways},
                                        {"error", 3, kString, kOptional}}};
  static const MessageType ingress{"LoadBalancerIngress",
                                   {{"ip", 1, kString, kAlways},
                                    {"hostname", 2, kString, kAlways},
                                    {"ipMode", 3, kString, kOptional},
                                    {"ports", 4, kMessage, kRepeated, &port_status}}};
  static const MessageType load_balancer{"LoadBalancerStatus",
                                         {{"ingress", 1, kMessage, kRepeated, &ingress}}};
  static const MessageType status{
      "ServiceStatus",
      {{"loadBalancer", 1, kMessage, kAlways, &load_balancer},
       {"conditions", 2, kMessage, kRepeated, &ConditionType(), "type"}}};
  static const MessageType type{"Service",
                                {{"metadata", 1, kMessage, kAlways, &ObjectMetaType()},
                                 {"spec", 2, kMessage, kAlways, &spec},
                                 {"status", 3, kMessage, kAlways, &status}}};
  return type;
}

const MessageType& UntypedType() {
  static const MessageType type{"Untyped", {{"metadata", 1, kMessage, kAlways, &ObjectMetaType()}}};
  return type;
}

}  // namespace otc::kubesim
