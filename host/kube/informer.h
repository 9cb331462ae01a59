// NodeLister and its handlers: the read side that controllers see.
//
// The real one is an informer (reflector.h) fed by list and watch; tests fill a
// FakeNodeLister by hand. Objects are shared and never changed. Thread-safe.
#ifndef OTC_HOST_KUBE_INFORMER_H_
#define OTC_HOST_KUBE_INFORMER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/kube/types.h"

namespace otc::host::kube {

using NodePtr = std::shared_ptr<const Node>;

// Called on a thread of the informer, in order for each object; one that takes long
// delays only itself, and sees fewer, larger changes.
// `old_node` null: added. `new_node` null: deleted (old_node may be the last
// state known, a tombstone). Both set with different UIDs: deleted and created
// again while nobody watched.
using NodeHandler = std::function<void(const NodePtr& old_node, const NodePtr& new_node)>;

class NodeLister {
 public:
  virtual ~NodeLister() = default;
  virtual NodePtr Get(const std::string& name) const = 0;  // null: not in the cache
  virtual std::vector<NodePtr> List() const = 0;           // in order of names
  // The first list is complete in the cache and was handed to every handler.
  virtual bool HasSynced() const = 0;
  // A handler added late first gets an add for each cached object.
  virtual void AddHandler(NodeHandler handler) = 0;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_INFORMER_H_
