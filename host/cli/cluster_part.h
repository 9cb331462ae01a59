// ClusterPart: everything of the process that talks to the API server: client,
// events, node cache, leader election, controllers.
//
// Owned by main in roles controllers and all. Construction connects nothing;
// Connect and Lead block the main thread for at most the times said there.
#ifndef OTC_HOST_CLI_CLUSTER_PART_H_
#define OTC_HOST_CLI_CLUSTER_PART_H_

#include <memory>
#include <string>

#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/random.h"
#include "host/cli/settings.h"
#include "host/cli/shared_gate.h"
#include "host/cli/supervisor.h"
#include "host/controllers/controller_set.h"
#include "host/election/leader_elector.h"
#include "host/kube/client.h"
#include "host/kube/events.h"
#include "host/kube/node_informer.h"
#include "host/ops/access.h"
#include "host/ops/health.h"

namespace otc::host::cli {

struct PartDeps {
  Clock& clock;
  Random& random;
  Log& log;
  Metrics& metrics;
  SharedGate& gate;
  Supervisor& supervisor;
  ops::Health& health;
};

class ClusterPart {
 public:
  static Result<std::unique_ptr<ClusterPart>> Create(const HostFlags& flags,
                                                     const ControllerFlags& options,
                                                     const PartDeps& deps);
  ~ClusterPart();

  // Reads the ConfigMap of delegated authentication as the stock controller
  // does: a server that cannot be reached, or rights that are missing, end the
  // start here with a hint, unless the flags tolerate it. Up to 10 s.
  Status Connect();

  // UID of namespace kube-system; empty until it could be read.
  const std::string& cluster_uid() const { return cluster_uid_; }

  // Campaigns (or, without election, posts kLeading at once). A lost lease ends
  // the process: exit code 1, without waiting for anybody.
  Status Campaign();
  // After kLeading: waits for the API server (up to 10 s, else an error), then
  // starts controllers and the node cache.
  Status Lead(InstancesProvider* instances);
  // Ends controllers, then the cache, then gives the lease up.
  void Stop();

  kube::KubeApi& authentication() { return *authentication_; }
  kube::KubeApi& authorization() { return *authorization_; }

 private:
  ClusterPart(const HostFlags& flags, const ControllerFlags& options, const PartDeps& deps);
  Status MakeClients();
  Status ReadClusterUid();
  [[noreturn]] void Die(const Status& why);
  CallContext Context(Duration timeout) const;

  const HostFlags& flags_;
  const ControllerFlags& options_;
  const PartDeps deps_;
  std::string cluster_uid_;
  std::unique_ptr<kube::KubeClient> client_;
  std::unique_ptr<kube::KubeClient> authentication_client_;  // null: as client_
  std::unique_ptr<kube::KubeClient> authorization_client_;
  kube::KubeApi* authentication_ = nullptr;
  kube::KubeApi* authorization_ = nullptr;
  std::unique_ptr<kube::ApiEventRecorder> events_;
  std::unique_ptr<kube::NodeInformer> nodes_;
  OpenWriteGate open_gate_;
  std::unique_ptr<LeaderElector> elector_;
  std::unique_ptr<ControllerSet> controllers_;
};

}  // namespace otc::host::cli

#endif  // OTC_HOST_CLI_CLUSTER_PART_H_
