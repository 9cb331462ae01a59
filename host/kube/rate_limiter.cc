#include "host/kube/rate_limiter.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "host/kube/token_bucket.h"

namespace otc::host::kube {
namespace {

class ExponentialLimiter final : public RateLimiter {
 public:
  ExponentialLimiter(Duration base, Duration max) : base_(base), max_(max) {}

  Duration When(const std::string& key) override {
    std::lock_guard lock(mutex_);
    const int failures = failures_[key]++;
    Duration delay = base_;
    for (int i = 0; i < failures && delay < max_; ++i) delay *= 2;
    return std::min(delay, max_);
  }

  void Forget(const std::string& key) override {
    std::lock_guard lock(mutex_);
    failures_.erase(key);
  }

  int Retries(const std::string& key) const override {
    std::lock_guard lock(mutex_);
    const auto it = failures_.find(key);
    return it == failures_.end() ? 0 : it->second;
  }

 private:
  const Duration base_;
  const Duration max_;
  mutable std::mutex mutex_;
  std::map<std::string, int> failures_;
};

class BucketLimiter final : public RateLimiter {
 public:
  BucketLimiter(Clock& clock, double per_second, int burst) : bucket_(clock, per_second, burst) {}
  Duration When(const std::string&) override { return bucket_.Reserve(); }
  void Forget(const std::string&) override {}
  int Retries(const std::string&) const override { return 0; }

 private:
  TokenBucket bucket_;
};

class MaxLimiter final : public RateLimiter {
 public:
  explicit MaxLimiter(std::vector<std::unique_ptr<RateLimiter>> limiters)
      : limiters_(std::move(limiters)) {}

  Duration When(const std::string& key) override {
    Duration delay = Duration::zero();
    for (auto& limiter : limiters_) delay = std::max(delay, limiter->When(key));
    return delay;
  }

  void Forget(const std::string& key) override {
    for (auto& limiter : limiters_) limiter->Forget(key);
  }

  int Retries(const std::string& key) const override {
    int retries = 0;
    for (const auto& limiter : limiters_) retries = std::max(retries, limiter->Retries(key));
    return retries;
  }

 private:
  const std::vector<std::unique_ptr<RateLimiter>> limiters_;
};

}  // namespace

std::unique_ptr<RateLimiter> MakeExponentialLimiter(Duration base, Duration max) {
  return std::make_unique<ExponentialLimiter>(base, max);
}

std::unique_ptr<RateLimiter> MakeBucketLimiter(Clock& clock, double per_second, int burst) {
  return std::make_unique<BucketLimiter>(clock, per_second, burst);
}

std::unique_ptr<RateLimiter> MakeMaxLimiter(std::vector<std::unique_ptr<RateLimiter>> limiters) {
  return std::make_unique<MaxLimiter>(std::move(limiters));
}

std::unique_ptr<RateLimiter> MakeDefaultLimiter(Clock& clock) {
  std::vector<std::unique_ptr<RateLimiter>> limiters;
  limiters.push_back(
      MakeExponentialLimiter(std::chrono::milliseconds(5), std::chrono::seconds(1000)));
  limiters.push_back(MakeBucketLimiter(clock, 10.0, 100));
  return MakeMaxLimiter(std::move(limiters));
}

}  // namespace otc::host::kube
