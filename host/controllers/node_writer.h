// NodeWriter: the only way in which the controllers change Nodes.
//
// Asks the write gate directly before each attempt and cuts the request's time
// to what is left of the lease. Thread-safe; owned by a controller.
#ifndef OTC_HOST_CONTROLLERS_NODE_WRITER_H_
#define OTC_HOST_CONTROLLERS_NODE_WRITER_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/cancellation.h"
#include "host/base/log.h"
#include "host/base/random.h"
#include "host/base/write_gate.h"
#include "host/controllers/node_plan.h"
#include "host/kube/api.h"

namespace otc::host {

// Tries again after a conflict (409), each time after base × (1 + [0, 1)).
struct ConflictRetry {
  int tries = 5;
  Duration base = std::chrono::milliseconds(100);
};
Status RetryOnConflict(const ConflictRetry& policy, Random& random, const CallContext& context,
                       const std::function<Status(int attempt)>& write);

// One line about a write: that it is done, or why not.
void LogWrite(Log& log, std::string_view what, const std::string& node, const Status& status);

class NodeWriter {
 public:
  NodeWriter(kube::KubeApi& api, WriteGate& gate, Random& random, Duration timeout)
      : api_(api), gate_(gate), random_(random), timeout_(timeout) {}

  // Whether a write would be admitted now, for what is announced before it.
  Status MayWrite() { return gate_.Admit().status(); }
  Status MergePatch(const std::string& name, const std::string& body,
                    const std::string& subresource, const CallContext& context);
  Result<kube::Node> Get(const std::string& name, const std::string& resource_version,
                         const CallContext& context);
  Status Delete(const std::string& name, const kube::DeletePreconditions& preconditions,
                const CallContext& context);

  // Sets the labels that `plan` wants for the Node as the server has it now;
  // nothing is written if it wants none. NOT_FOUND if the Node is gone.
  Status UpdateLabels(const std::string& name,
                      const std::function<LabelMap(const kube::Node&)>& plan,
                      const CallContext& context);
  // Replaces the taints by `change` of what the server has now, unless that is
  // the same; with optimistic locking, so nobody's taint is lost.
  Status UpdateTaints(
      const std::string& name,
      const std::function<std::vector<kube::Taint>(std::vector<kube::Taint>)>& change,
      const CallContext& context);

 private:
  Result<CallContext> Admit(const CallContext& context);
  Status Patch(const std::string& name, kube::PatchType type, const std::string& body,
               const std::string& subresource, const CallContext& context);
  // Reads what the server has cached at first, the newest after a conflict.
  Result<kube::Node> GetForAttempt(const std::string& name, int attempt,
                                   const CallContext& context);

  kube::KubeApi& api_;
  WriteGate& gate_;
  Random& random_;
  const Duration timeout_;
};

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_NODE_WRITER_H_
