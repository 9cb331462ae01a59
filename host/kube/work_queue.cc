#include "host/kube/work_queue.h"

#include <algorithm>

namespace otc::host::kube {
namespace {

// Delayed keys are looked at no later than this, whatever the clock does.
constexpr Duration kLongestWait = std::chrono::seconds(10);

std::vector<double> DurationBuckets() { return ExponentialBuckets(1e-8, 10, 10); }

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

WorkQueue::WorkQueue(std::string name, std::unique_ptr<RateLimiter> limiter, Clock& clock,
                     Metrics& metrics)
    : clock_(clock),
      limiter_(std::move(limiter)),
      depth_(metrics.GetGauge("workqueue_depth", "Keys waiting in the queue.", {{"name", name}})),
      adds_(
          metrics.GetCounter("workqueue_adds_total", "Keys added to the queue.", {{"name", name}})),
      retries_(metrics.GetCounter("workqueue_retries_total", "Keys added with a delay.",
                                  {{"name", name}})),
      queue_seconds_(metrics.GetHistogram("workqueue_queue_duration_seconds",
                                          "How long a key waits before it is worked on.",
                                          DurationBuckets(), {{"name", name}})),
      work_seconds_(metrics.GetHistogram("workqueue_work_duration_seconds",
                                         "How long a key is worked on.", DurationBuckets(),
                                         {{"name", name}})),
      unfinished_seconds_(metrics.GetGauge("workqueue_unfinished_work_seconds",
                                           "Age of all work in progress, summed up.",
                                           {{"name", name}})),
      longest_seconds_(metrics.GetGauge("workqueue_longest_running_processor_seconds",
                                        "Age of the oldest work in progress.", {{"name", name}})) {}

void WorkQueue::Add(const std::string& key) {
  std::lock_guard lock(mutex_);
  if (AddLocked(key)) changed_.notify_one();
}

bool WorkQueue::AddLocked(const std::string& key) {
  if (shutting_down_ || !dirty_.emplace(key, clock_.Now()).second) return false;
  adds_.Add();
  if (processing_.count(key) != 0) return false;  // Done queues it
  queue_.push_back(key);
  depth_.Set(static_cast<double>(queue_.size()));
  return true;
}

void WorkQueue::AddAfter(const std::string& key, Duration delay) {
  std::lock_guard lock(mutex_);
  if (shutting_down_) return;
  retries_.Add();
  if (delay <= Duration::zero()) {
    if (AddLocked(key)) changed_.notify_one();
    return;
  }
  const MonoTime due = clock_.Now() + delay;
  const auto it = delayed_.find(key);
  if (it != delayed_.end()) {
    if (it->second.due <= due) return;
    by_due_.erase({{it->second.due, it->second.order}, key});
  }
  const Delay entry{due, next_order_++};
  delayed_[key] = entry;
  by_due_.insert({{entry.due, entry.order}, key});
  // Waiting workers, whichever of them will be idle then, must wake earlier than
  // they meant to.
  if (by_due_.begin()->second == key) changed_.notify_all();
}

void WorkQueue::AddRateLimited(const std::string& key) { AddAfter(key, limiter_->When(key)); }

void WorkQueue::MoveDueLocked() {
  const MonoTime now = clock_.Now();
  bool moved = false;
  while (!by_due_.empty() && by_due_.begin()->first.first <= now) {
    const std::string key = by_due_.begin()->second;
    by_due_.erase(by_due_.begin());
    delayed_.erase(key);
    moved = AddLocked(key) || moved;
  }
  if (moved) changed_.notify_all();
}

template <typename Ready>
Status WorkQueue::WaitFor(std::unique_lock<std::mutex>& lock, const CallContext& context,
                          Ready ready) {
  while (true) {
    MoveDueLocked();
    RefreshMetricsLocked();
    if (ready()) return Status::Ok();
    OTC_RETURN_IF_ERROR(context.Check());
    MonoTime until = std::min(context.deadline, clock_.Now() + kLongestWait);
    if (!by_due_.empty()) until = std::min(until, by_due_.begin()->first.first);
    clock_.WaitUntil(changed_, lock, until);
  }
}

std::optional<std::string> WorkQueue::Get(const CallContext& context) {
  // The registration stays outside the lock: a raised flag calls back at once.
  std::uint64_t registration = 0;
  if (context.cancellation) {
    registration = context.cancellation->OnCancel([this] {
      std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
  }
  std::optional<std::string> key;
  {
    std::unique_lock lock(mutex_);
    const Status waited =
        WaitFor(lock, context, [this] { return !queue_.empty() || shutting_down_; });
    if (waited.ok() && !queue_.empty()) key = TakeLocked();
  }
  if (context.cancellation) context.cancellation->Remove(registration);
  return key;
}

std::string WorkQueue::TakeLocked() {
  std::string key = std::move(queue_.front());
  queue_.pop_front();
  depth_.Set(static_cast<double>(queue_.size()));
  const auto wanted = dirty_.find(key);
  queue_seconds_.Observe(Seconds(clock_.Now() - wanted->second));
  dirty_.erase(wanted);
  processing_.emplace(key, clock_.Now());
  return key;
}

void WorkQueue::Done(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto it = processing_.find(key);
  if (it == processing_.end()) return;
  work_seconds_.Observe(Seconds(clock_.Now() - it->second));
  processing_.erase(it);
  if (dirty_.count(key) != 0) {
    queue_.push_back(key);
    depth_.Set(static_cast<double>(queue_.size()));
    changed_.notify_one();
  }
  if (shutting_down_) changed_.notify_all();
  RefreshMetricsLocked();
}

void WorkQueue::ShutDown() {
  std::lock_guard lock(mutex_);
  shutting_down_ = true;
  delayed_.clear();
  by_due_.clear();
  changed_.notify_all();
}

Status WorkQueue::ShutDownWithDrain(const CallContext& context) {
  ShutDown();
  std::uint64_t registration = 0;
  if (context.cancellation) {
    registration = context.cancellation->OnCancel([this] {
      std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
  }
  Status status;
  {
    std::unique_lock lock(mutex_);
    status = WaitFor(lock, context, [this] { return queue_.empty() && processing_.empty(); });
  }
  if (context.cancellation) context.cancellation->Remove(registration);
  return status;
}

bool WorkQueue::ShuttingDown() const {
  std::lock_guard lock(mutex_);
  return shutting_down_;
}

std::size_t WorkQueue::Length() {
  std::lock_guard lock(mutex_);
  MoveDueLocked();
  return queue_.size();
}

std::size_t WorkQueue::Delayed() {
  std::lock_guard lock(mutex_);
  MoveDueLocked();
  return delayed_.size();
}

void WorkQueue::RefreshMetrics() {
  std::lock_guard lock(mutex_);
  RefreshMetricsLocked();
}

void WorkQueue::RefreshMetricsLocked() {
  const MonoTime now = clock_.Now();
  Duration sum = Duration::zero();
  Duration longest = Duration::zero();
  for (const auto& [key, since] : processing_) {
    sum += now - since;
    longest = std::max(longest, now - since);
  }
  unfinished_seconds_.Set(Seconds(sum));
  longest_seconds_.Set(Seconds(longest));
}

}  // namespace otc::host::kube
