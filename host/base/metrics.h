// Metrics: counters, gauges and histograms of the process, in Prometheus text.
//
// prometheus-cpp keeps the numbers; only metrics.cc sees it. Names, label names
// and buckets are fixed by docs/reference/formats.md. A handle is looked up once
// and then used without a lock; it lives as long as the registry.
//
// Thread-safe. Failure: a name used with another kind or help text is a
// programming error and aborts; too many label sets are folded into one
// overflow series ("other" in every label) and counted.
#ifndef OTC_HOST_BASE_METRICS_H_
#define OTC_HOST_BASE_METRICS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace otc::host {

class Counter {
 public:
  virtual ~Counter() = default;
  virtual void Add(double value = 1.0) = 0;
  virtual double Value() const = 0;
};

class Gauge {
 public:
  virtual ~Gauge() = default;
  virtual void Set(double value) = 0;
  virtual void Add(double value) = 0;
  virtual double Value() const = 0;
};

class Histogram {
 public:
  virtual ~Histogram() = default;
  virtual void Observe(double value) = 0;
};

using Labels = std::map<std::string, std::string>;

class Metrics {
 public:
  // At most this many label sets a metric; the rest is folded.
  static constexpr std::size_t kMaxLabelSets = 200;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram& GetHistogram(const std::string& name, const std::string& help,
                          const std::vector<double>& buckets, const Labels& labels = {});

  // The text exposition format 0.0.4.
  std::string Render() const;
  // Sum over all label sets of a counter or gauge that contain `labels`; 0 if
  // there is none. For tests and the demo.
  double Sum(const std::string& name, const Labels& labels = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// `count` buckets: start, start*factor, … as prometheus.ExponentialBuckets.
std::vector<double> ExponentialBuckets(double start, double factor, int count);

}  // namespace otc::host

#endif  // OTC_HOST_BASE_METRICS_H_
