// Settings of leader election, with the defaults and rules of client-go.
#ifndef OTC_HOST_ELECTION_ELECTION_OPTIONS_H_
#define OTC_HOST_ELECTION_ELECTION_OPTIONS_H_

#include <chrono>
#include <string>
#include <vector>

#include "host/base/clock.h"

namespace otc::host {

struct ElectionOptions {
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  std::string resource_lock = "leases";
  std::string resource_name = "cloud-controller-manager";
  std::string resource_namespace = "kube-system";
  bool release_on_exit = true;  // free the Lease after a clean stop
  std::string identity;         // MakeElectionIdentity()
};

// One sentence for each setting that cannot be used; empty if all is well.
// E19: duration > deadline > 1.2 × retry, all above zero, lock type "leases".
std::vector<std::string> Validate(const ElectionOptions& options);

// "<host name>_<random UUID>": unique in every start of every process.
std::string MakeElectionIdentity();

}  // namespace otc::host

#endif  // OTC_HOST_ELECTION_ELECTION_OPTIONS_H_
