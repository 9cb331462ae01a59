#include "host/cloud/budget.h"

#include <algorithm>
#include <utility>

#include "host/cloud/call_wait.h"

namespace otc::host::cloud {
namespace {

// What other clients of this cloud limit themselves to.
constexpr BudgetRate kDefaultRead = {10, 15};
constexpr BudgetRate kDefaultWrite = {1.5, 2};

std::chrono::duration<double> Seconds(Duration duration) { return duration; }

}  // namespace

Budget::Budget(Clock& clock, BudgetRate rate)
    : clock_(clock), rate_(rate), tokens_(rate.burst), updated_(clock.Now()) {}

Status Budget::Acquire(const std::string& plugin_id, const CallContext& context) {
  auto waiter = std::make_shared<Waiter>();
  CallWait wait(mutex_, waiter->wake, context);
  std::unique_lock lock(mutex_);
  auto& queue = queues_[plugin_id];
  if (queue.empty()) turns_.push_back(plugin_id);
  queue.push_back(waiter);
  DispatchLocked();
  while (!waiter->granted) {
    Status status = context.Check();
    if (status.ok() && resting_until_ > context.deadline) status = ThrottledLocked();
    if (!status.ok()) {
      LeaveLocked(plugin_id, waiter);
      return status;
    }
    wait.WaitOnce(lock, NextTokenLocked());
    DispatchLocked();
  }
  return Status::Ok();
}

Status Budget::ThrottledLocked() const {
  const auto rest =
      std::chrono::duration_cast<std::chrono::milliseconds>(resting_until_ - clock_.Now());
  return Status(Code::kResourceExhausted, "Throttled",
                "the cloud has throttled this service; the pause outlasts the deadline",
                static_cast<std::uint64_t>(std::max<std::int64_t>(0, rest.count())));
}

void Budget::RestUntil(MonoTime until) {
  std::lock_guard lock(mutex_);
  RefillLocked();
  resting_until_ = std::max(resting_until_, until);
  tokens_ = std::min(tokens_, 0.0);
  // Waiters look at the new time when their old one comes; nobody waits too short.
}

void Budget::SetRate(BudgetRate rate) {
  std::lock_guard lock(mutex_);
  RefillLocked();
  rate_ = rate;
  tokens_ = std::min(tokens_, rate_.burst);
  DispatchLocked();
  // The others wait for a moment that the old rate gave.
  for (auto& [plugin_id, queue] : queues_) {
    for (auto& waiter : queue) waiter->wake.notify_all();
  }
}

void Budget::RefillLocked() {
  const MonoTime now = clock_.Now();
  const MonoTime from = std::max(updated_, resting_until_);
  if (now > from) {
    tokens_ = std::min(rate_.burst, tokens_ + Seconds(now - from).count() * rate_.per_second);
  }
  updated_ = now;
}

void Budget::DispatchLocked() {
  RefillLocked();
  // A millionth of a token is the rounding of the waiting time.
  constexpr double kWhole = 1 - 1e-6;
  if (clock_.Now() < resting_until_) return;
  while (tokens_ >= kWhole && !turns_.empty()) {
    const std::string plugin_id = std::move(turns_.front());
    turns_.pop_front();
    const auto queue = queues_.find(plugin_id);
    const std::shared_ptr<Waiter> waiter = std::move(queue->second.front());
    queue->second.pop_front();
    if (queue->second.empty()) {
      queues_.erase(queue);
    } else {
      turns_.push_back(plugin_id);
    }
    tokens_ -= 1;
    waiter->granted = true;
    waiter->wake.notify_all();
  }
}

MonoTime Budget::NextTokenLocked() const {
  const double missing = std::max(0.0, 1 - tokens_);
  const auto wait = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(missing / rate_.per_second));
  return std::max(updated_, resting_until_) + wait + Duration(1);
}

void Budget::LeaveLocked(const std::string& plugin_id, const std::shared_ptr<Waiter>& waiter) {
  const auto queue = queues_.find(plugin_id);
  if (queue == queues_.end()) return;
  std::erase(queue->second, waiter);
  if (!queue->second.empty()) return;
  queues_.erase(queue);
  std::erase(turns_, plugin_id);
}

Budgets::Budgets(Clock& clock, const CloudConfig& config)
    : clock_(clock), configured_(config.budgets) {}

Budget& Budgets::For(const std::string& service, bool write) {
  const std::string key = service + (write ? "-write" : "-read");
  std::lock_guard lock(mutex_);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    auto budget = std::make_unique<Budget>(clock_, RateLocked(key, write));
    found = entries_.emplace(key, Entry{write, std::move(budget)}).first;
  }
  return *found->second.budget;
}

void Budgets::Configure(const CloudConfig& config) {
  std::lock_guard lock(mutex_);
  configured_ = config.budgets;
  for (auto& [key, entry] : entries_) entry.budget->SetRate(RateLocked(key, entry.write));
}

BudgetRate Budgets::RateLocked(const std::string& key, bool write) const {
  auto found = configured_.find(key);
  if (found == configured_.end())
    found = configured_.find(write ? "default-write" : "default-read");
  if (found != configured_.end()) return found->second;
  return write ? kDefaultWrite : kDefaultRead;
}

}  // namespace otc::host::cloud
