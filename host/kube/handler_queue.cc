#include "host/kube/handler_queue.h"

#include <utility>

namespace otc::host::kube {

HandlerQueue::HandlerQueue(NodeHandler handler)
    : handler_(std::move(handler)), thread_([this] { Run(); }) {}

HandlerQueue::~HandlerQueue() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void HandlerQueue::Push(const NodePtr& old_node, const NodePtr& new_node) {
  const std::string& name = (new_node ? new_node : old_node)->meta.name;
  std::lock_guard lock(mutex_);
  const auto known = by_name_.find(name);
  if (known == by_name_.end()) {
    waiting_.push_back({name, old_node, new_node});
    by_name_[name] = std::prev(waiting_.end());
    changed_.notify_all();
    return;
  }
  const auto entry = known->second;
  entry->new_node = new_node;
  if (entry->old_node || entry->new_node) return;
  // Came and went while nobody looked.
  waiting_.erase(entry);
  by_name_.erase(known);
}

void HandlerQueue::MarkSynced() {
  std::lock_guard lock(mutex_);
  marked_ = true;
  changed_.notify_all();
}

bool HandlerQueue::HasSynced() const {
  std::lock_guard lock(mutex_);
  return synced_;
}

void HandlerQueue::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (waiting_.empty()) {
      synced_ = synced_ || marked_;
      changed_.wait(lock);
      continue;
    }
    const Entry entry = std::move(waiting_.front());
    waiting_.pop_front();
    by_name_.erase(entry.name);
    lock.unlock();
    handler_(entry.old_node, entry.new_node);
    lock.lock();
  }
}

}  // namespace otc::host::kube
