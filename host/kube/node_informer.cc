#include "host/kube/node_informer.h"

#include <utility>

#include "host/kube/json_codec.h"

namespace otc::host::kube {

NodeInformer::NodeInformer(KubeClient& client, Clock& clock, Random& random, Log& log,
                           Metrics& metrics, ReflectorOptions options)
    : clock_(clock),
      objects_(metrics.GetGauge("otc_host_informer_objects", "Objects in the cache.",
                                {{"name", options.name}})),
      reflector_(std::move(options), client, *this, clock, random, log, metrics) {}

NodeInformer::~NodeInformer() { Stop(); }

void NodeInformer::Start() {
  CallContext context;
  context.clock = &clock_;
  context.cancellation = cancellation_;
  thread_ = std::thread([this, context] { reflector_.Run(context); });
}

void NodeInformer::Stop() {
  cancellation_->Cancel("Quiescing", "the informer stops");
  if (thread_.joinable()) thread_.join();
  std::vector<std::unique_ptr<HandlerQueue>> handlers;
  {
    std::lock_guard order(notify_);
    handlers.swap(handlers_);
  }
  handlers.clear();  // waits for each, without a lock that a handler may want
}

NodePtr NodeInformer::Get(const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto it = store_.find(name);
  return it == store_.end() ? nullptr : it->second;
}

std::vector<NodePtr> NodeInformer::List() const {
  std::lock_guard lock(mutex_);
  std::vector<NodePtr> nodes;
  nodes.reserve(store_.size());
  for (const auto& [name, node] : store_) nodes.push_back(node);
  return nodes;
}

void NodeInformer::AddHandler(NodeHandler handler) {
  std::lock_guard order(notify_);
  auto queue = std::make_unique<HandlerQueue>(std::move(handler));
  for (const NodePtr& node : List()) queue->Push(nullptr, node);
  if (synced_) queue->MarkSynced();
  handlers_.push_back(std::move(queue));
}

bool NodeInformer::HasSynced() const {
  std::lock_guard order(notify_);
  if (!synced_) return false;
  for (const auto& handler : handlers_) {
    if (!handler->HasSynced()) return false;
  }
  return true;
}

void NodeInformer::Notify(const NodePtr& old_node, const NodePtr& new_node) {
  for (const auto& handler : handlers_) handler->Push(old_node, new_node);
}

Result<Node> NodeInformer::Decode(Encoding encoding, std::string_view object) {
  return encoding == Encoding::kProtobuf ? decoder_.Decode(object)
                                         : NodeFromJson(std::string(object));
}

void NodeInformer::BeginReplace() { gathered_.clear(); }

Status NodeInformer::Gather(Change change, Encoding encoding, std::string_view object) {
  Result<Node> node = Decode(encoding, object);
  if (!node.ok()) return node.status();
  if (change == Change::kDeleted) {
    gathered_.erase(node->meta.name);
    return Status::Ok();
  }
  // What did not change is shared with the present content, so that a new list
  // does not double the memory.
  NodePtr known = Get(node->meta.name);
  const bool same = known && known->meta.uid == node->meta.uid &&
                    known->meta.resource_version == node->meta.resource_version;
  NodePtr& slot = gathered_[node->meta.name];
  slot = same ? std::move(known) : std::make_shared<const Node>(std::move(node).value());
  return Status::Ok();
}

void NodeInformer::CommitReplace() {
  std::lock_guard order(notify_);
  Store old = std::exchange(gathered_, {});
  {
    std::lock_guard lock(mutex_);
    store_.swap(old);
    objects_.Set(static_cast<double>(store_.size()));
  }
  // Only this thread changes the store, so it may be read without the lock here.
  for (const auto& [name, node] : store_) {
    const auto before = old.find(name);
    if (before == old.end()) {
      Notify(nullptr, node);
    } else if (before->second != node) {
      Notify(before->second, node);
    }
  }
  for (const auto& [name, node] : old) {
    if (store_.count(name) == 0) Notify(node, nullptr);
  }
  synced_ = true;
  for (const auto& handler : handlers_) handler->MarkSynced();
}

Status NodeInformer::Apply(Change change, Encoding encoding, std::string_view object) {
  Result<Node> decoded = Decode(encoding, object);
  if (!decoded.ok()) return decoded.status();
  auto node = std::make_shared<const Node>(std::move(decoded).value());
  std::lock_guard order(notify_);
  NodePtr before;
  {
    std::lock_guard lock(mutex_);
    if (change == Change::kDeleted) {
      const auto it = store_.find(node->meta.name);
      if (it == store_.end()) return Status::Ok();
      store_.erase(it);
      before = std::exchange(node, nullptr);
    } else {
      before = std::exchange(store_[node->meta.name], node);
    }
    objects_.Set(static_cast<double>(store_.size()));
  }
  Notify(before, node);
  return Status::Ok();
}

}  // namespace otc::host::kube
