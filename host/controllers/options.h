// Settings of the controllers, with their defaults. main fills them from flags
// (docs/reference/flags.md); Validate names everything that is wrong at once.
#ifndef OTC_HOST_CONTROLLERS_OPTIONS_H_
#define OTC_HOST_CONTROLLERS_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "host/base/clock.h"

namespace otc::host {

struct NodeControllerOptions {
  int concurrent_syncs = 1;           // --concurrent-node-syncs
  int concurrent_status_updates = 0;  // --concurrent-node-status-updates; 0: as above
  Duration status_update_period = std::chrono::minutes(5);  // --node-status-update-frequency

  // New nodes that show up within this time of each other are described in one
  // call, at most `batch_max` at once.
  Duration batch_window = std::chrono::milliseconds(100);
  std::size_t batch_max = 250;
  // A Node that stays uninitialised for longer than this gets an event that says
  // why; before, it is most likely just too new for the cloud's list.
  Duration report_after = std::chrono::seconds(3);
  Duration report_again = std::chrono::minutes(5);

  Duration describe_timeout = std::chrono::seconds(60);
  Duration write_timeout = std::chrono::seconds(30);
};

// How sure the lifecycle controller must be before it deletes a Node. Nodes
// without a providerID of this cloud are never deleted, whatever is set here.
struct DeletionGuardOptions {
  int proofs = 3;                                   // uninterrupted proofs of absence …
  Duration proof_span = std::chrono::seconds(60);   // … over at least this time
  Duration min_node_age = std::chrono::minutes(2);  // by creationTimestamp
  // Nothing is deleted while more than `stop_percent` of the nodes and at least
  // `stop_count` have vanished: those absent now and those deleted within
  // `stop_window`. 100 percent: never stop.
  int stop_percent = 20;
  int stop_count = 3;
  Duration stop_window = std::chrono::minutes(10);

  // As k8s.io/cloud-provider behaves: the first proof deletes.
  static DeletionGuardOptions Stock() {
    return {.proofs = 1,
            .proof_span = Duration::zero(),
            .min_node_age = Duration::zero(),
            .stop_percent = 100,
            .stop_count = 1,
            .stop_window = Duration::zero()};
  }
};

struct LifecycleOptions {
  Duration monitor_period = std::chrono::seconds(5);  // --node-monitor-period
  // A NotReady node whose server is still there is asked about less and less
  // often, down to once in this time, so that a node that stays broken or shut
  // down for days costs few cloud calls. Zero: at every pass, as upstream.
  Duration recheck_max = std::chrono::seconds(60);
  DeletionGuardOptions guard;

  Duration describe_timeout = std::chrono::seconds(60);
  Duration write_timeout = std::chrono::seconds(30);
};

// One sentence for each setting that cannot be used; empty if all is well.
std::vector<std::string> Validate(const NodeControllerOptions& options);
std::vector<std::string> Validate(const LifecycleOptions& options);

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_OPTIONS_H_
