// NodeSync: the periodic look at all initialised nodes.
//
// One call to the plugin for all of them; written is only what differs: the
// addresses, and the zone, region and type labels after a resize or a move. An
// error with one node never touches another. Answers are looked at as they come,
// so only what has to be written is kept in memory.
//
// Used by one thread; writes go out on up to `concurrent_status_updates`.
#ifndef OTC_HOST_CONTROLLERS_NODE_SYNC_H_
#define OTC_HOST_CONTROLLERS_NODE_SYNC_H_

#include <string>
#include <vector>

#include "host/controllers/controller_set.h"
#include "host/controllers/node_addresses.h"
#include "host/controllers/node_plan.h"
#include "host/controllers/node_writer.h"

namespace otc::host {

class NodeSync {
 public:
  NodeSync(const ControllerDeps& deps, const NodeControllerOptions& options);

  void SyncAll(const CallContext& context);

 private:
  struct Change {
    std::string name;
    LabelMap labels;        // empty: none to write
    AddressList addresses;  // empty: none to write
  };

  // What `node` needs after this answer.
  Change Plan(const kube::Node& node, const plugin::v1::InstanceMetadata& metadata);
  void Write(const Change& change, const CallContext& context);

  const ControllerDeps deps_;
  const NodeControllerOptions options_;
  NodeWriter writer_;
};

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_NODE_SYNC_H_
