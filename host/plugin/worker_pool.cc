#include "host/plugin/worker_pool.h"

#include <algorithm>
#include <utility>

namespace otc::host::plugin_host {

struct WorkerPool::Worker {
  PluginThread thread;
  std::condition_variable wake;
  std::function<void()> job;  // set: has work
  PlacePtr place;             // set: busy
  bool written_off = false;
};

struct WorkerPool::Place {
  std::string lane;
  std::shared_ptr<Worker> worker;  // set by Run
  bool released = false;
};

WorkerPool::WorkerPool(std::string name, int workers, std::map<std::string, int> lane_limits)
    : name_(std::move(name)), workers_(workers), lane_limits_(std::move(lane_limits)) {}

WorkerPool::~WorkerPool() {
  // Written-off threads hold the pool, so none is left here.
  Close();
}

bool WorkerPool::MayEnter(const std::string& lane) const {
  if (paused_ || running_ >= workers_) return false;
  const auto limit = lane_limits_.find(lane);
  if (limit == lane_limits_.end()) return true;
  const auto in_lane = lanes_.find(lane);
  return in_lane == lanes_.end() || in_lane->second < limit->second;
}

Result<WorkerPool::PlacePtr> WorkerPool::Acquire(const std::string& lane,
                                                 const CallContext& context) {
  // Wakes the wait below; the pool may be gone when a late callback runs.
  std::uint64_t registration = 0;
  if (context.cancellation) {
    registration = context.cancellation->OnCancel([weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        const std::lock_guard lock(self->mutex_);
        self->changed_.notify_all();
      }
    });
  }
  Result<PlacePtr> result = [&]() -> Result<PlacePtr> {
    std::unique_lock lock(mutex_);
    if (!closed_ && waiting_.size() >= kMaxWaiting) {
      return Status(Code::kResourceExhausted, "QueueFull",
                    "1024 calls wait for plugin " + name_ + " already");
    }
    const auto ticket = waiting_.insert(waiting_.end(), &lane);
    Status status;
    for (;;) {
      if (closed_) {
        status = Status(Code::kUnavailable, "NotStarted", "plugin " + name_ + " does not run");
        break;
      }
      status = context.Check();
      if (!status.ok()) break;
      // In order of arrival, but a full lane does not hold up the others.
      const auto first = std::find_if(waiting_.begin(), waiting_.end(),
                                      [this](const std::string* l) { return MayEnter(*l); });
      if (first == ticket) break;
      context.clock->WaitUntil(changed_, lock, context.deadline);
    }
    waiting_.erase(ticket);
    changed_.notify_all();
    if (!status.ok()) return status;
    ++running_;
    ++lanes_[lane];
    auto place = std::make_shared<Place>();
    place->lane = lane;
    return place;
  }();
  if (context.cancellation) context.cancellation->Remove(registration);
  return result;
}

Result<std::shared_ptr<WorkerPool::Worker>> WorkerPool::IdleWorker() {
  const auto idle = std::find_if(threads_.begin(), threads_.end(),
                                 [](const auto& worker) { return worker->place == nullptr; });
  if (idle != threads_.end()) return *idle;
  auto worker = std::make_shared<Worker>();
  auto thread = PluginThread::Start(
      "otc:" + name_, [self = shared_from_this(), worker] { self->WorkerMain(worker); });
  if (!thread.ok()) return thread.status();
  worker->thread = std::move(thread).value();
  threads_.push_back(worker);
  return worker;
}

Status WorkerPool::Run(const PlacePtr& place, std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  Result<std::shared_ptr<Worker>> worker = IdleWorker();
  if (!worker.ok()) {
    ReleaseLocked(place);
    return worker.status();
  }
  place->worker = *worker;
  place->worker->place = place;
  place->worker->job = std::move(job);
  place->worker->wake.notify_one();
  return Status::Ok();
}

void WorkerPool::WorkerMain(const std::shared_ptr<Worker>& worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    worker->wake.wait(lock, [&] { return worker->job != nullptr || closed_; });
    if (worker->job == nullptr) return;
    std::function<void()> job = std::exchange(worker->job, nullptr);
    lock.unlock();
    job();
    job = nullptr;  // what it holds must not be freed under the lock
    lock.lock();
    ReleaseLocked(std::exchange(worker->place, nullptr));
    if (worker->written_off) {
      --lost_;
      changed_.notify_all();
      return;
    }
  }
}

void WorkerPool::ReleaseLocked(const PlacePtr& place) {
  if (std::exchange(place->released, true)) return;
  --running_;
  if (--lanes_[place->lane] == 0) lanes_.erase(place->lane);
  changed_.notify_all();
}

bool WorkerPool::WriteOff(const PlacePtr& place) {
  const std::lock_guard lock(mutex_);
  if (place->released) return false;
  const std::shared_ptr<Worker> worker = place->worker;
  WriteOffLocked(worker);
  std::erase(threads_, worker);
  return true;
}

void WorkerPool::WriteOffLocked(const std::shared_ptr<Worker>& worker) {
  ReleaseLocked(worker->place);
  worker->written_off = true;
  worker->thread.Detach();
  ++lost_;
}

bool WorkerPool::Pause(const CallContext& context) {
  std::unique_lock lock(mutex_);
  paused_ = true;
  while (running_ > 0 && context.Check().ok()) {
    context.clock->WaitUntil(changed_, lock, context.deadline);
  }
  return running_ == 0 && lost_ == 0;
}

void WorkerPool::Resume() {
  const std::lock_guard lock(mutex_);
  paused_ = false;
  changed_.notify_all();
}

void WorkerPool::Close() {
  std::vector<std::shared_ptr<Worker>> idle;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
    for (const auto& worker : threads_) {
      if (worker->place != nullptr) {
        WriteOffLocked(worker);
      } else {
        worker->wake.notify_one();
        idle.push_back(worker);
      }
    }
    threads_.clear();
  }
  for (const auto& worker : idle) worker->thread.Join();
}

int WorkerPool::Lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

}  // namespace otc::host::plugin_host
