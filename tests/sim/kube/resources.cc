#include "tests/sim/kube/resources.h"

#include "tests/sim/kube/schema.h"

namespace otc::kubesim {
namespace {

std::vector<ResourceInfo> MakeResources() {
  std::vector<ResourceInfo> all;
  all.push_back({.version = "v1",
                 .plural = "configmaps",
                 .singular = "configmap",
                 .kind = "ConfigMap",
                 .namespaced = true,
                 .short_names = {"cm"},
                 .schema = &ConfigMapType()});
  all.push_back(
      {.version = "v1",
       .plural = "events",
       .singular = "event",
       .kind = "Event",
       .namespaced = true,
       .short_names = {"ev"},
       .field_labels = {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
                        "involvedObject.uid", "involvedObject.apiVersion",
                        "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
                        "reportingComponent", "source", "type"},
       .schema = &EventType()});
  all.push_back({.version = "v1",
                 .plural = "namespaces",
                 .singular = "namespace",
                 .kind = "Namespace",
                 .has_status = true,
                 .short_names = {"ns"},
                 .field_labels = {"status.phase"},
                 .schema = &NamespaceType()});
  all.push_back({.version = "v1",
                 .plural = "nodes",
                 .singular = "node",
                 .kind = "Node",
                 .has_status = true,
                 .short_names = {"no"},
                 .field_labels = {"spec.unschedulable"},
                 .schema = &NodeType()});
  all.push_back({.version = "v1",
                 .plural = "pods",
                 .singular = "pod",
                 .kind = "Pod",
                 .namespaced = true,
                 .has_status = true,
                 .short_names = {"po"},
                 .field_labels = {"spec.nodeName", "status.phase", "spec.restartPolicy",
                                  "spec.schedulerName", "spec.serviceAccountName",
                                  "spec.hostNetwork", "status.podIP", "status.nominatedNodeName"},
                 .schema = &UntypedType()});
  all.push_back({.version = "v1",
                 .plural = "secrets",
                 .singular = "secret",
                 .kind = "Secret",
                 .namespaced = true,
                 .field_labels = {"type"},
                 .schema = &UntypedType()});
  all.push_back({.version = "v1",
                 .plural = "serviceaccounts",
                 .singular = "serviceaccount",
                 .kind = "ServiceAccount",
                 .namespaced = true,
                 .short_names = {"sa"},
                 .schema = &UntypedType()});
  all.push_back({.version = "v1",
                 .plural = "services",
                 .singular = "service",
                 .kind = "Service",
                 .namespaced = true,
                 .has_status = true,
                 .short_names = {"svc"},
                 .field_labels = {"spec.clusterIP", "spec.type"},
                 .schema = &ServiceType()});
  all.push_back({.group = "coordination.k8s.io",
                 .version = "v1",
                 .plural = "leases",
                 .singular = "lease",
                 .kind = "Lease",
                 .namespaced = true,
                 .schema = &LeaseType()});
  all.push_back({.group = "authentication.k8s.io",
                 .version = "v1",
                 .plural = "tokenreviews",
                 .singular = "tokenreview",
                 .kind = "TokenReview",
                 .schema = &UntypedType(),
                 .review = true});
  all.push_back({.group = "authorization.k8s.io",
                 .version = "v1",
                 .plural = "subjectaccessreviews",
                 .singular = "subjectaccessreview",
                 .kind = "SubjectAccessReview",
                 .schema = &UntypedType(),
                 .review = true});
  all.push_back({.group = "authorization.k8s.io",
                 .version = "v1",
                 .plural = "selfsubjectaccessreviews",
                 .singular = "selfsubjectaccessreview",
                 .kind = "SelfSubjectAccessReview",
                 .schema = &UntypedType(),
                 .review = true});
  return all;
}

}  // namespace

const std::vector<ResourceInfo>& AllResources() {
  static const std::vector<ResourceInfo> all = MakeResources();
  return all;
}

const ResourceInfo* FindResource(std::string_view group, std::string_view version,
                                 std::string_view plural) {
  for (const ResourceInfo& resource : AllResources()) {
    if (resource.group == group && resource.version == version && resource.plural == plural) {
      return &resource;
    }
  }
  return nullptr;
}

}  // namespace otc::kubesim
