// WorkerPool: the threads on which one plugin instance's slots run.
//
// Admission: at most `workers` jobs at once, and in a lane at most its limit
// (describe: two), in order of arrival. Threads are started when they are first
// needed. A thread whose slot does not come back is written off: it is detached,
// its place is free again, and it ends itself should the slot ever return.
//
// Thread-safe. Shared ownership: a written-off thread keeps its pool alive.
// Failure is a Status; nothing waits longer than the caller's context says.
#ifndef OTC_HOST_PLUGIN_WORKER_POOL_H_
#define OTC_HOST_PLUGIN_WORKER_POOL_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/base/cancellation.h"
#include "host/plugin/plugin_thread.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::plugin_host {

class WorkerPool : public std::enable_shared_from_this<WorkerPool> {
 public:
  static constexpr std::size_t kMaxWaiting = 1024;

  // `lane_limits`: lanes that are narrower than the pool.
  WorkerPool(std::string name, int workers, std::map<std::string, int> lane_limits);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // A place to run one job in. Every place that Acquire gave must be Run; it is
  // free again when the job returned or was written off.
  struct Place;
  using PlacePtr = std::shared_ptr<Place>;

  // Blocks for a free place. CANCELLED or DEADLINE_EXCEEDED by the context,
  // RESOURCE_EXHAUSTED (reason "QueueFull") when 1,024 wait already, UNAVAILABLE
  // (reason "NotStarted") once closed.
  Result<PlacePtr> Acquire(const std::string& lane, const CallContext& context);
  // Starts `job` on the place's thread and returns at once. RESOURCE_EXHAUSTED
  // if no thread can be started; the place is released then.
  Status Run(const PlacePtr& place, std::function<void()> job);
  // The job does not come back: its thread is given up. False if it just did.
  bool WriteOff(const PlacePtr& place);

  // Stops admission and waits until no job runs; false when `context` ended
  // first or a written-off job still runs. Admission stays stopped either way.
  bool Pause(const CallContext& context);
  void Resume();
  // Ends admission for good; waiting callers return. Idle threads end; those
  // that still run a job are written off.
  void Close();

  // Written-off jobs whose slots have not returned to this day.
  int Lost() const;

 private:
  struct Worker;
  bool MayEnter(const std::string& lane) const;
  void ReleaseLocked(const PlacePtr& place);
  void WriteOffLocked(const std::shared_ptr<Worker>& worker);
  void WorkerMain(const std::shared_ptr<Worker>& worker);
  Result<std::shared_ptr<Worker>> IdleWorker();

  const std::string name_;
  const int workers_;
  const std::map<std::string, int> lane_limits_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::list<const std::string*> waiting_;  // lanes of waiting callers, in order
  std::map<std::string, int> lanes_;       // running jobs
  int running_ = 0;
  int lost_ = 0;
  bool paused_ = false;
  bool closed_ = false;
  std::vector<std::shared_ptr<Worker>> threads_;
};

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_WORKER_POOL_H_
