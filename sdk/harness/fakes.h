// The host services as tests see them: a clock that tests drive, a log and
// metrics that can be read back, and a cloud that answers from a script.
//
// All of them are thread-safe: plugins call from any thread. Owned by a FakeHost
// or by the test; they outlive the instances that use them.
#ifndef OTC_SDK_HARNESS_FAKES_H_
#define OTC_SDK_HARNESS_FAKES_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "otc/plugin/v1/cloud.pb.h"
#include "otc/plugin/v1/services.pb.h"

namespace otc::harness {

namespace pb = otc::plugin::v1;

// Starts at 2026-01-01T00:00:00Z and moves only when told, or when a plugin
// sleeps: then to the moment that it sleeps until.
class FakeClock {
 public:
  std::uint64_t MonotonicNs() const { return elapsed_ns_.load() + kStartMonotonicNs; }
  std::int64_t UnixNs() const {
    return kStartUnixNs + static_cast<std::int64_t>(elapsed_ns_.load()) + skew_ns_.load();
  }
  std::int64_t UnixMs() const { return UnixNs() / 1'000'000; }
  void AdvanceMs(std::uint64_t ms) { elapsed_ns_ += ms * 1'000'000; }
  void AdvanceTo(std::uint64_t monotonic_ns);
  // Moves the wall clock alone.
  void SkewMs(std::int64_t ms) { skew_ns_ += ms * 1'000'000; }

 private:
  static constexpr std::uint64_t kStartMonotonicNs = 1'000'000'000'000;
  static constexpr std::int64_t kStartUnixNs = 1'767'225'600'000'000'000;
  std::atomic<std::uint64_t> elapsed_ns_{0};
  std::atomic<std::int64_t> skew_ns_{0};
};

struct LogLine {
  std::uint32_t level = 0;  // OTC_LOG_*
  std::string message;
  std::vector<std::pair<std::string, std::string>> fields;
  bool with_call = false;

  std::string Text() const;  // "WARN message key=value …"
};

class LogCapture {
 public:
  void Write(LogLine line);
  std::vector<LogLine> lines() const;
  // Whether any line contains `text`; for marked secrets and expected warnings.
  bool Contains(std::string_view text) const;

 private:
  mutable std::mutex mutex_;
  std::vector<LogLine> lines_;
};

class MetricsRecorder {
 public:
  // As the service: OTC_OK and a handle, or OTC_ALREADY_EXISTS and the like.
  std::int32_t Define(const pb::MetricDefinition& definition, std::uint64_t* handle);
  // False: no such handle or the wrong number of labels.
  bool Record(std::uint64_t handle, double value, const std::vector<std::string>& labels);

  // The sum (counter), last value (gauge) or sum of observations (histogram);
  // 0 if nothing was recorded.
  double Value(std::string_view name, const std::vector<std::string>& labels = {}) const;
  std::vector<std::string> Names() const;
  // Whether a label value or a help text contains `text`.
  bool Contains(std::string_view text) const;

 private:
  struct Metric {
    pb::MetricDefinition definition;
    std::map<std::vector<std::string>, double> values;
  };
  mutable std::mutex mutex_;
  std::vector<Metric> metrics_;  // handle - 1 is the index
};

// Answers the requests of a plugin. Called on the plugin's thread, one request
// after the other; implement it to send to a simulator.
class CloudClient {
 public:
  virtual ~CloudClient() = default;
  // Index, and an outcome if it is left unset, are filled in by the harness.
  virtual pb::CloudResponse Answer(const pb::CloudRequest& request) = 0;
};

// A cloud from a script: the first rule whose method and path fit answers. What
// no rule fits gets 404 from the gateway, which proves nothing.
class ScriptedCloud : public CloudClient {
 public:
  using Handler = std::function<pb::CloudResponse(const pb::CloudRequest&)>;

  // `path` fits exactly or, ending in '*', by its beginning; so does `method` "*".
  void On(std::string method, std::string path, Handler handler);
  void On(std::string method, std::string path, std::uint32_t http_status, std::string body);
  // Removes all rules, keeps the record of requests.
  void Clear();

  pb::CloudResponse Answer(const pb::CloudRequest& request) override;

  std::vector<pb::CloudRequest> requests() const;
  // Requests whose path starts with `prefix`.
  int Count(std::string_view method, std::string_view prefix) const;

  // An answer of the service with its status, code and request id set as the
  // host would set them.
  static pb::CloudResponse Reply(std::uint32_t http_status, std::string body);
  // 404 said by the service itself, not by the gateway: a proof of absence.
  static pb::CloudResponse Absent(std::string service_code);
  // A request whose fate is unknown, and one that was surely not sent.
  static pb::CloudResponse Unclear();
  static pb::CloudResponse NotSent();

 private:
  struct Rule {
    std::string method;
    std::string path;
    Handler handler;
  };
  mutable std::mutex mutex_;
  std::vector<Rule> rules_;
  std::vector<pb::CloudRequest> requests_;
};

}  // namespace otc::harness

#endif  // OTC_SDK_HARNESS_FAKES_H_
