// Random numbers for jitter, injectable so that tests are repeatable.
#ifndef OTC_HOST_BASE_RANDOM_H_
#define OTC_HOST_BASE_RANDOM_H_

#include <mutex>
#include <random>

namespace otc::host {

class Random {
 public:
  virtual ~Random() = default;
  // Uniform in [0, 1). Thread-safe.
  virtual double Uniform() = 0;
};

class SystemRandom final : public Random {
 public:
  explicit SystemRandom(std::uint64_t seed = std::random_device{}()) : engine_(seed) {}
  double Uniform() override {
    std::lock_guard lock(mutex_);
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine_);
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_;
};

// Always the same number: 0 turns jitter off.
class FixedRandom final : public Random {
 public:
  explicit FixedRandom(double value = 0.0) : value_(value) {}
  double Uniform() override { return value_; }

 private:
  double value_;
};

}  // namespace otc::host

#endif  // OTC_HOST_BASE_RANDOM_H_
