// HandlerQueue: one handler of an informer, on a thread of its own, so that a
// slow one delays neither the cache nor the other handlers.
//
// Changes are handed over in order. While the handler is busy, changes of one
// node that wait are merged into one (its state before the first and after the
// last), so at most one entry a node is waiting. Thread-safe.
#ifndef OTC_HOST_KUBE_HANDLER_QUEUE_H_
#define OTC_HOST_KUBE_HANDLER_QUEUE_H_

#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "host/kube/informer.h"

namespace otc::host::kube {

class HandlerQueue {
 public:
  explicit HandlerQueue(NodeHandler handler);
  // Waits for the handler to return; what is still waiting is dropped.
  ~HandlerQueue();
  HandlerQueue(const HandlerQueue&) = delete;
  HandlerQueue& operator=(const HandlerQueue&) = delete;

  void Push(const NodePtr& old_node, const NodePtr& new_node);
  // What was pushed so far is the first complete list.
  void MarkSynced();
  // The handler was given all of it.
  bool HasSynced() const;

 private:
  struct Entry {
    std::string name;
    NodePtr old_node;
    NodePtr new_node;
  };

  void Run();

  const NodeHandler handler_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Entry> waiting_;
  std::map<std::string, std::list<Entry>::iterator> by_name_;
  bool marked_ = false;
  bool synced_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_HANDLER_QUEUE_H_
