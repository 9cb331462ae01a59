#include "host/base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "host/base/strings.h"

namespace otc::host {
namespace {

class CounterHandle final : public Counter {
 public:
  explicit CounterHandle(prometheus::Counter& counter) : counter_(counter) {}
  void Add(double value) override { counter_.Increment(value); }
  double Value() const override { return counter_.Value(); }

 private:
  prometheus::Counter& counter_;
};

class GaugeHandle final : public Gauge {
 public:
  explicit GaugeHandle(prometheus::Gauge& gauge) : gauge_(gauge) {}
  void Set(double value) override { gauge_.Set(value); }
  void Add(double value) override { gauge_.Increment(value); }
  double Value() const override { return gauge_.Value(); }

 private:
  prometheus::Gauge& gauge_;
};

class HistogramHandle final : public Histogram {
 public:
  explicit HistogramHandle(prometheus::Histogram& histogram) : histogram_(histogram) {}
  void Observe(double value) override { histogram_.Observe(value); }

 private:
  prometheus::Histogram& histogram_;
};

// prometheus-cpp writes HELP as it is: a line break would end the comment.
std::string CleanHelp(const std::string& help) {
  std::string out = ReplaceInvalidUtf8(help);
  for (char& c : out) {
    if (c == '\n' || c == '\r' || c == '\\') c = ' ';
  }
  return out;
}

prometheus::Labels CleanLabels(const Labels& labels) {
  prometheus::Labels out;
  for (const auto& [name, value] : labels) out[name] = ReplaceInvalidUtf8(value);
  return out;
}

[[noreturn]] void Misuse(const std::string& name, const char* what) {
  std::fprintf(stderr, "metric %s: %s\n", name.c_str(), what);
  std::abort();
}

}  // namespace

struct Metrics::Impl {
  enum class Kind { kCounter, kGauge, kHistogram };
  struct Family {
    Kind kind{};
    std::string help;
    prometheus::Family<prometheus::Counter>* counters = nullptr;
    prometheus::Family<prometheus::Gauge>* gauges = nullptr;
    prometheus::Family<prometheus::Histogram>* histograms = nullptr;
    std::map<Labels, std::unique_ptr<Counter>> counter_handles;
    std::map<Labels, std::unique_ptr<Gauge>> gauge_handles;
    std::map<Labels, std::unique_ptr<Histogram>> histogram_handles;
  };

  Family& Get(const std::string& name, const std::string& help, Kind kind) {
    auto [it, fresh] = families.try_emplace(name);
    Family& family = it->second;
    if (fresh) {
      family.kind = kind;
      family.help = help;
      switch (kind) {
        case Kind::kCounter:
          family.counters =
              &prometheus::BuildCounter().Name(name).Help(CleanHelp(help)).Register(*registry);
          break;
        case Kind::kGauge:
          family.gauges =
              &prometheus::BuildGauge().Name(name).Help(CleanHelp(help)).Register(*registry);
          break;
        case Kind::kHistogram:
          family.histograms =
              &prometheus::BuildHistogram().Name(name).Help(CleanHelp(help)).Register(*registry);
          break;
      }
    }
    if (family.kind != kind) Misuse(name, "defined before with another kind");
    if (family.help != help) Misuse(name, "defined before with another help text");
    return family;
  }

  template <typename Handles>
  static Labels Bounded(const Handles& handles, const Labels& labels) {
    if (handles.size() < kMaxLabelSets || handles.count(labels) != 0) return labels;
    Labels other;
    for (const auto& [name, value] : labels) other[name] = "other";
    return other;
  }

  mutable std::mutex mutex;
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  std::map<std::string, Family> families;
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

Counter& Metrics::GetCounter(const std::string& name, const std::string& help,
                             const Labels& labels) {
  std::lock_guard lock(impl_->mutex);
  auto& family = impl_->Get(name, help, Impl::Kind::kCounter);
  const Labels key = Impl::Bounded(family.counter_handles, labels);
  auto& handle = family.counter_handles[key];
  if (!handle) handle = std::make_unique<CounterHandle>(family.counters->Add(CleanLabels(key)));
  return *handle;
}

Gauge& Metrics::GetGauge(const std::string& name, const std::string& help, const Labels& labels) {
  std::lock_guard lock(impl_->mutex);
  auto& family = impl_->Get(name, help, Impl::Kind::kGauge);
  const Labels key = Impl::Bounded(family.gauge_handles, labels);
  auto& handle = family.gauge_handles[key];
  if (!handle) handle = std::make_unique<GaugeHandle>(family.gauges->Add(CleanLabels(key)));
  return *handle;
}

Histogram& Metrics::GetHistogram(const std::string& name, const std::string& help,
                                 const std::vector<double>& buckets, const Labels& labels) {
  std::lock_guard lock(impl_->mutex);
  auto& family = impl_->Get(name, help, Impl::Kind::kHistogram);
  const Labels key = Impl::Bounded(family.histogram_handles, labels);
  auto& handle = family.histogram_handles[key];
  if (!handle) {
    handle = std::make_unique<HistogramHandle>(family.histograms->Add(CleanLabels(key), buckets));
  }
  return *handle;
}

std::string Metrics::Render() const {
  return prometheus::TextSerializer().Serialize(impl_->registry->Collect());
}

double Metrics::Sum(const std::string& name, const Labels& labels) const {
  const auto matches = [&](const Labels& have) {
    for (const auto& [key, value] : labels) {
      const auto it = have.find(key);
      if (it == have.end() || it->second != value) return false;
    }
    return true;
  };
  std::lock_guard lock(impl_->mutex);
  const auto it = impl_->families.find(name);
  if (it == impl_->families.end()) return 0;
  double sum = 0;
  for (const auto& [have, handle] : it->second.counter_handles) {
    if (matches(have)) sum += handle->Value();
  }
  for (const auto& [have, handle] : it->second.gauge_handles) {
    if (matches(have)) sum += handle->Value();
  }
  return sum;
}

std::vector<double> ExponentialBuckets(double start, double factor, int count) {
  std::vector<double> buckets;
  for (int i = 0; i < count; ++i, start *= factor) buckets.push_back(start);
  return buckets;
}

}  // namespace otc::host
