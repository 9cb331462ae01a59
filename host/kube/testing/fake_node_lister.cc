#include "host/kube/testing/fake_node_lister.h"

#include <utility>

namespace otc::host::kube {

void FakeNodeLister::Set(Node node) {
  std::lock_guard order(notify_);
  auto next = std::make_shared<const Node>(std::move(node));
  NodePtr old_node;
  {
    std::lock_guard lock(mutex_);
    NodePtr& slot = nodes_[next->meta.name];
    old_node = std::exchange(slot, next);
  }
  Notify(old_node, next);
}

void FakeNodeLister::Delete(const std::string& name) {
  std::lock_guard order(notify_);
  NodePtr old_node;
  {
    std::lock_guard lock(mutex_);
    const auto it = nodes_.find(name);
    if (it == nodes_.end()) return;
    old_node = it->second;
    nodes_.erase(it);
  }
  Notify(old_node, nullptr);
}

void FakeNodeLister::SetSynced(bool synced) {
  std::lock_guard lock(mutex_);
  synced_ = synced;
}

NodePtr FakeNodeLister::Get(const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto it = nodes_.find(name);
  return it == nodes_.end() ? nullptr : it->second;
}

std::vector<NodePtr> FakeNodeLister::List() const {
  std::lock_guard lock(mutex_);
  std::vector<NodePtr> all;
  for (const auto& [name, node] : nodes_) all.push_back(node);
  return all;
}

bool FakeNodeLister::HasSynced() const {
  std::lock_guard lock(mutex_);
  return synced_;
}

void FakeNodeLister::AddHandler(NodeHandler handler) {
  std::lock_guard order(notify_);
  for (const NodePtr& node : List()) handler(nullptr, node);
  std::lock_guard lock(mutex_);
  handlers_.push_back(std::move(handler));
}

void FakeNodeLister::Notify(const NodePtr& old_node, const NodePtr& new_node) {
  std::vector<NodeHandler> handlers;
  {
    std::lock_guard lock(mutex_);
    handlers = handlers_;
  }
  for (const NodeHandler& handler : handlers) handler(old_node, new_node);
}

}  // namespace otc::host::kube
