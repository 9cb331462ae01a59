// ForwardingKubeApi: hands every call on to another KubeApi. Tests override the
// calls that they want to watch, delay or break.
#ifndef OTC_HOST_KUBE_TESTING_FORWARDING_KUBE_API_H_
#define OTC_HOST_KUBE_TESTING_FORWARDING_KUBE_API_H_

#include <string>

#include "host/kube/api.h"

namespace otc::host::kube {

class ForwardingKubeApi : public KubeApi {
 public:
  explicit ForwardingKubeApi(KubeApi& target) : target_(target) {}

  Result<Node> GetNode(const std::string& name, const std::string& resource_version,
                       const CallContext& context) override {
    return target_.GetNode(name, resource_version, context);
  }
  Result<Node> PatchNode(const std::string& name, PatchType type, const std::string& body,
                         const std::string& subresource, const CallContext& context) override {
    return target_.PatchNode(name, type, body, subresource, context);
  }
  Status DeleteNode(const std::string& name, const DeletePreconditions& preconditions,
                    const CallContext& context) override {
    return target_.DeleteNode(name, preconditions, context);
  }
  Result<Lease> GetLease(const std::string& namespace_name, const std::string& name,
                         const CallContext& context) override {
    return target_.GetLease(namespace_name, name, context);
  }
  Result<Lease> CreateLease(const Lease& lease, const CallContext& context) override {
    return target_.CreateLease(lease, context);
  }
  Result<Lease> UpdateLease(const Lease& lease, const CallContext& context) override {
    return target_.UpdateLease(lease, context);
  }
  Result<RawResponse> Call(const RawRequest& request, const CallContext& context) override {
    return target_.Call(request, context);
  }

 private:
  KubeApi& target_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_TESTING_FORWARDING_KUBE_API_H_
