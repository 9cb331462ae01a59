// NodeInformer: the node cache of the process, fed by a reflector on a thread of
// its own.
//
// Each handler runs on a thread of its own (handler_queue.h); one that is added
// late first gets an add for each cached node. A node whose resourceVersion did not
// change during a new list is not announced again. Thread-safe, but handlers must
// not call Stop.
#ifndef OTC_HOST_KUBE_NODE_INFORMER_H_
#define OTC_HOST_KUBE_NODE_INFORMER_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/kube/handler_queue.h"
#include "host/kube/informer.h"
#include "host/kube/object_sink.h"
#include "host/kube/proto_codec.h"
#include "host/kube/reflector.h"

namespace otc::host::kube {

class NodeInformer final : public NodeLister, private ObjectSink {
 public:
  // All references outlive the informer.
  NodeInformer(KubeClient& client, Clock& clock, Random& random, Log& log, Metrics& metrics,
               ReflectorOptions options = NodeOptions());
  ~NodeInformer() override;

  static ReflectorOptions NodeOptions() { return {"nodes", "/api/v1/nodes", "Node"}; }

  // Starts the thread; to be called once.
  void Start();
  // Ends it and the handlers' threads, and waits for them. The cache stays readable.
  void Stop();

  NodePtr Get(const std::string& name) const override;
  std::vector<NodePtr> List() const override;
  bool HasSynced() const override;
  void AddHandler(NodeHandler handler) override;

 private:
  using Store = std::map<std::string, NodePtr>;

  void BeginReplace() override;
  Status Gather(Change change, Encoding encoding, std::string_view object) override;
  void CommitReplace() override;
  Status Apply(Change change, Encoding encoding, std::string_view object) override;

  Result<Node> Decode(Encoding encoding, std::string_view object);
  void Notify(const NodePtr& old_node, const NodePtr& new_node);

  Clock& clock_;
  Gauge& objects_;
  Reflector reflector_;
  const std::shared_ptr<Cancellation> cancellation_ = Cancellation::Create();
  std::thread thread_;

  NodeProtoDecoder decoder_;  // of the informer's thread
  Store gathered_;            // of the informer's thread

  mutable std::mutex notify_;  // keeps the order of notifications; taken before mutex_
  std::vector<std::unique_ptr<HandlerQueue>> handlers_;  // guarded by notify_
  bool synced_ = false;                                  // guarded by notify_
  mutable std::mutex mutex_;
  Store store_;  // guarded by mutex_
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_NODE_INFORMER_H_
