// FakeNodeLister: a node cache that a test fills by hand.
//
// Handlers run on the calling thread, inside Set and Delete, as an informer's
// would on its own. Thread-safe.
#ifndef OTC_HOST_KUBE_TESTING_FAKE_NODE_LISTER_H_
#define OTC_HOST_KUBE_TESTING_FAKE_NODE_LISTER_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "host/kube/informer.h"

namespace otc::host::kube {

class FakeNodeLister final : public NodeLister {
 public:
  // Adds or replaces; an object without change of resourceVersion counts as an
  // update all the same.
  void Set(Node node);
  // Removes; handlers get the last state. Unknown names do nothing.
  void Delete(const std::string& name);
  void SetSynced(bool synced);

  NodePtr Get(const std::string& name) const override;
  std::vector<NodePtr> List() const override;
  bool HasSynced() const override;
  void AddHandler(NodeHandler handler) override;

 private:
  void Notify(const NodePtr& old_node, const NodePtr& new_node);

  mutable std::mutex mutex_;
  std::mutex notify_;  // keeps the order of notifications; taken before mutex_
  std::map<std::string, NodePtr> nodes_;
  std::vector<NodeHandler> handlers_;
  bool synced_ = true;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_TESTING_FAKE_NODE_LISTER_H_
