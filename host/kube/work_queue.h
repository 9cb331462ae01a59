// WorkQueue: the keys a controller still has to look at.
//
// A key is held once however often it is added; it is never handed to two
// workers at the same time, and a key added while it is worked on comes again
// after Done. Workers loop: Get, work, AddRateLimited on failure or Forget on
// success, Done (always).
//
//   while (auto key = queue.Get(context)) {
//     Status status = Sync(*key);
//     if (status.ok()) queue.Forget(*key); else queue.AddRateLimited(*key);
//     queue.Done(*key);
//   }
//
// Owned by its controller. Thread-safe; no thread of its own: workers that wait
// in Get also watch the delayed keys. Memory is one entry for each distinct key.
#ifndef OTC_HOST_KUBE_WORK_QUEUE_H_
#define OTC_HOST_KUBE_WORK_QUEUE_H_

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "host/base/cancellation.h"
#include "host/base/metrics.h"
#include "host/kube/rate_limiter.h"

namespace otc::host::kube {

class WorkQueue {
 public:
  // `name` is the label of the workqueue_* metrics ("node", "service").
  WorkQueue(std::string name, std::unique_ptr<RateLimiter> limiter, Clock& clock, Metrics& metrics);

  void Add(const std::string& key);
  // Adds later. Of several delays for one key the earliest moment counts.
  void AddAfter(const std::string& key, Duration delay);
  void AddRateLimited(const std::string& key);
  void Forget(const std::string& key) { limiter_->Forget(key); }
  int Retries(const std::string& key) const { return limiter_->Retries(key); }

  // Blocks for the next key. Nothing: the queue is shut down and drained, or the
  // context's cancellation or deadline ended the wait.
  std::optional<std::string> Get(const CallContext& context);
  void Done(const std::string& key);

  // From now on Add does nothing and delayed keys are dropped; what is queued is
  // still handed out.
  void ShutDown();
  // Waits until everything handed out is done, too. Returns why it ended early,
  // else OK.
  Status ShutDownWithDrain(const CallContext& context);
  bool ShuttingDown() const;

  // Keys ready to be handed out.
  std::size_t Length();
  // Delayed keys that are not due yet.
  std::size_t Delayed();
  // Brings workqueue_unfinished_work_seconds and …longest_running… up to date;
  // happens by itself whenever the queue is used.
  void RefreshMetrics();

 private:
  struct Delay {
    MonoTime due;
    std::uint64_t order;  // keys due at the same moment come in order of adding
  };

  bool AddLocked(const std::string& key);
  void MoveDueLocked();
  void RefreshMetricsLocked();
  std::string TakeLocked();
  // Waits under `lock` until `ready`, the context's end, or the next delayed key.
  template <typename Ready>
  Status WaitFor(std::unique_lock<std::mutex>& lock, const CallContext& context, Ready ready);

  Clock& clock_;
  const std::unique_ptr<RateLimiter> limiter_;
  Gauge& depth_;
  Counter& adds_;
  Counter& retries_;
  Histogram& queue_seconds_;
  Histogram& work_seconds_;
  Gauge& unfinished_seconds_;
  Gauge& longest_seconds_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<std::string> queue_;
  std::map<std::string, MonoTime> dirty_;       // wanted, since when
  std::map<std::string, MonoTime> processing_;  // handed out, since when
  std::map<std::string, Delay> delayed_;
  std::set<std::pair<std::pair<MonoTime, std::uint64_t>, std::string>> by_due_;
  std::uint64_t next_order_ = 0;
  bool shutting_down_ = false;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_WORK_QUEUE_H_
