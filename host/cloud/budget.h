// Budget: how often a service may be called, shared fairly between plugins.
//
// A token bucket whose waiters stand in one queue for each plugin; free tokens go
// to the queues in turn. However many calls one plugin has waiting, a call of
// another gets the token after next at the latest (with n waiting plugins, one of
// the next n). After the cloud has throttled, the bucket rests and loses what it
// had saved up.
//
// Thread-safe. Waiting threads sleep on the injected clock and wake on
// cancellation. Budgets holds one Budget for each service and direction.
#ifndef OTC_HOST_CLOUD_BUDGET_H_
#define OTC_HOST_CLOUD_BUDGET_H_

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "host/base/cancellation.h"
#include "host/cloud/cloud_config.h"

namespace otc::host::cloud {

class Budget {
 public:
  Budget(Clock& clock, BudgetRate rate);

  // Takes one token. CANCELLED or DEADLINE_EXCEEDED if the call ended first;
  // RESOURCE_EXHAUSTED "Throttled" at once if the bucket rests beyond the deadline.
  Status Acquire(const std::string& plugin_id, const CallContext& context);

  // No token before `until` (never earlier than already set) and none saved up.
  void RestUntil(MonoTime until);
  void SetRate(BudgetRate rate);

 private:
  struct Waiter {
    bool granted = false;
    std::condition_variable wake;
  };

  void RefillLocked();
  void DispatchLocked();
  MonoTime NextTokenLocked() const;
  Status ThrottledLocked() const;
  void LeaveLocked(const std::string& plugin_id, const std::shared_ptr<Waiter>& waiter);

  Clock& clock_;
  std::mutex mutex_;
  BudgetRate rate_;
  double tokens_;
  MonoTime updated_;
  MonoTime resting_until_;
  // Only plugins that wait; the front of turns_ gets the next token.
  std::map<std::string, std::deque<std::shared_ptr<Waiter>>> queues_;
  std::deque<std::string> turns_;
};

class Budgets {
 public:
  Budgets(Clock& clock, const CloudConfig& config);

  // Lives as long as the Budgets.
  Budget& For(const std::string& service, bool write);
  void Configure(const CloudConfig& config);

 private:
  BudgetRate RateLocked(const std::string& key, bool write) const;

  Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, BudgetRate> configured_;
  struct Entry {
    bool write;
    std::unique_ptr<Budget> budget;
  };
  std::map<std::string, Entry> entries_;  // by "<service>-read" or "-write"
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_BUDGET_H_
