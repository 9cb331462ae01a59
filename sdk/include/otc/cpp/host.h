// What a plugin may ask of its host: log, clock, metrics, cloud, configuration.
//
// A Host is a small value made in the plugin's Create and kept by its instance;
// valid until the instance is destroyed, any thread. A service that the host does
// not offer or the manifest does not name is absent: logging and metrics then do
// nothing, the others fail with FAILED_PRECONDITION, reason `ServiceMissing`.
#ifndef OTC_CPP_HOST_H_
#define OTC_CPP_HOST_H_

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "otc/cpp/call.h"
#include "otc/cpp/status.h"
#include "otc/cpp/text.h"
#include "otc/plugin.h"
#include "otc/plugin/v1/cloud.pb.h"
#include "otc/plugin/v1/services.pb.h"

namespace otc {

inline Status ServiceMissing(std::string_view id) {
  return Status(Code::kFailedPrecondition, "ServiceMissing",
                "host service " + std::string(id) +
                    " is not offered in this role or not named in the manifest (needs=, uses=)");
}

// A failed status for the code that a host service returned.
inline Status ServiceStatus(const Call& call, std::int32_t code, std::string_view what) {
  if (code == OTC_OK) return Status::Ok();
  if (code == OTC_CANCELLED || code == OTC_DEADLINE_EXCEEDED) {
    return Status(static_cast<Code>(code),
                  code == OTC_CANCELLED ? kReasonCancelled : kReasonDeadline,
                  std::string(what) + ": the call ended first");
  }
  const Code known = IsDefinedCode(code) ? static_cast<Code>(code) : Code::kUnknown;
  const bool dry = call.dry_run() && code == OTC_FAILED_PRECONDITION;
  return Status(known, dry ? "DryRunWrite" : "ServiceRefused",
                std::string(what) + ": the host refused with " + CodeName(known));
}

using LogFields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// Log lines of the plugin. Never blocks; the host drops and counts floods.
class Log {
 public:
  Log(const otc_host* host, const otc_host_log_1* table) : host_(host), table_(table) {}

  bool Enabled(std::uint32_t level) const {
    return table_ != nullptr && OTC_HAS(otc_host_log_1, table_, enabled) &&
           table_->enabled(host_, level) != 0;
  }
  // `call` (may be null) adds request id, plugin and subject. At most 32 fields.
  void Write(std::uint32_t level, const Call* call, std::string_view message,
             LogFields fields = {}) const {
    if (!Enabled(level) || !OTC_HAS(otc_host_log_1, table_, write)) return;
    otc_kv list[32];
    std::uint64_t count = 0;
    for (const auto& [key, value] : fields) {
      if (count == 32) break;
      list[count++] = otc_kv{Str(key), Str(value)};
    }
    table_->write(host_, call == nullptr ? nullptr : call->raw(), level, Str(message), list, count);
  }
  void Error(const Call* call, std::string_view message, LogFields fields = {}) const {
    Write(OTC_LOG_ERROR, call, message, fields);
  }
  void Warn(const Call* call, std::string_view message, LogFields fields = {}) const {
    Write(OTC_LOG_WARN, call, message, fields);
  }
  void Info(const Call* call, std::string_view message, LogFields fields = {}) const {
    Write(OTC_LOG_INFO, call, message, fields);
  }
  void Debug(const Call* call, std::string_view message, LogFields fields = {}) const {
    Write(OTC_LOG_DEBUG, call, message, fields);
  }

 private:
  const otc_host* host_;
  const otc_host_log_1* table_;
};

// The only clock; tests drive it.
class Time {
 public:
  Time(const otc_host* host, const otc_host_time_1* table) : host_(host), table_(table) {}

  bool present() const { return table_ != nullptr; }
  // 0 when the service is absent.
  std::uint64_t MonotonicNs() const { return present() ? table_->monotonic_ns(host_) : 0; }
  std::int64_t UnixNs() const { return present() ? table_->unix_ns(host_) : 0; }
  std::int64_t UnixMs() const { return UnixNs() / 1'000'000; }
  // Holds a worker: for more than moments answer PENDING instead.
  Status SleepUntil(const Call& call, std::uint64_t monotonic_ns) const {
    if (!present()) return ServiceMissing("otc.host.time/1");
    return ServiceStatus(call, table_->sleep_until(call.raw(), monotonic_ns), "sleep");
  }

 private:
  const otc_host* host_;
  const otc_host_time_1* table_;
};

// One metric of the plugin. Counters add, gauges set, histograms observe. A
// default-made one records nothing.
class Metric {
 public:
  Metric() = default;
  Metric(const otc_host* host, const otc_host_metrics_1* table, std::uint64_t handle)
      : host_(host), table_(table), handle_(handle) {}

  // As many label values as the definition has names (at most 4).
  void Record(double value, std::initializer_list<std::string_view> labels = {}) const {
    if (table_ == nullptr) return;
    otc_str list[4];
    std::uint64_t count = 0;
    for (const std::string_view label : labels) {
      if (count == 4) break;
      list[count++] = Str(label);
    }
    table_->record(host_, handle_, value, list, count);
  }

 private:
  const otc_host* host_ = nullptr;
  const otc_host_metrics_1* table_ = nullptr;
  std::uint64_t handle_ = 0;
};

class Metrics {
 public:
  Metrics(const otc_host* host, const otc_host_metrics_1* table) : host_(host), table_(table) {}

  bool present() const { return table_ != nullptr; }
  // The host puts `otc_plugin_<id>_` before the name. Absent service: a Metric
  // that records nothing. ALREADY_EXISTS: another definition has this name.
  Result<Metric> Define(plugin::v1::MetricDefinition definition) const {
    if (!present()) return Metric();
    RepairText(&definition);
    std::uint64_t handle = 0;
    const std::int32_t code = table_->define(host_, Bytes(definition.SerializeAsString()), &handle);
    if (code == OTC_OK) return Metric(host_, table_, handle);
    return Status(IsDefinedCode(code) ? static_cast<Code>(code) : Code::kUnknown, "MetricRefused",
                  "the host refused metric " + definition.name());
  }
  Result<Metric> Counter(std::string_view name, std::string_view help,
                         std::initializer_list<std::string_view> labels = {}) const {
    return Define(Definition(plugin::v1::METRIC_KIND_COUNTER, name, help, labels));
  }
  Result<Metric> Gauge(std::string_view name, std::string_view help,
                       std::initializer_list<std::string_view> labels = {}) const {
    return Define(Definition(plugin::v1::METRIC_KIND_GAUGE, name, help, labels));
  }

 private:
  static plugin::v1::MetricDefinition Definition(plugin::v1::MetricKind kind, std::string_view name,
                                                 std::string_view help,
                                                 std::initializer_list<std::string_view> labels) {
    plugin::v1::MetricDefinition definition;
    definition.set_kind(kind);
    definition.set_name(std::string(name));
    definition.set_help(std::string(help));
    for (const std::string_view label : labels) definition.add_label_names(std::string(label));
    return definition;
  }

  const otc_host* host_;
  const otc_host_metrics_1* table_;
};

// Requests to OTC services. The host adds endpoint, project, signature, budget
// and safe retries; a plugin never sees credentials.
class Cloud {
 public:
  explicit Cloud(const otc_host_cloud_1* table) : table_(table) {}

  bool present() const { return table_ != nullptr; }

  // One response for each request, at the request's place. A response that never
  // came stays OUTCOME_UNSPECIFIED, which reads as UNCLEAR. A failed status: the
  // host sent nothing (bad batch, service not in `cloud=`, cancelled before).
  Result<std::vector<plugin::v1::CloudResponse>> Exchange(const Call& call,
                                                          plugin::v1::CloudBatch batch) const {
    if (!present()) return ServiceMissing("otc.host.cloud/1");
    RepairText(&batch);
    Collector collector;
    collector.responses.resize(static_cast<std::size_t>(batch.requests_size()));
    for (std::size_t i = 0; i < collector.responses.size(); ++i) {
      collector.responses[i].set_index(static_cast<std::uint32_t>(i));
    }
    const std::string bytes = batch.SerializeAsString();
    const std::int32_t code =
        table_->exchange(call.raw(), Bytes(bytes), otc_sink{&collector, &Collector::Put});
    OTC_RETURN_IF_ERROR(ServiceStatus(call, code, "cloud exchange"));
    OTC_RETURN_IF_ERROR(collector.status);
    return std::move(collector.responses);
  }

  Result<plugin::v1::CloudResponse> Exchange(const Call& call,
                                             plugin::v1::CloudRequest request) const {
    plugin::v1::CloudBatch batch;
    *batch.add_requests() = std::move(request);
    auto responses = Exchange(call, std::move(batch));
    if (!responses.ok()) return responses.status();
    return std::move(responses.value()[0]);
  }

 private:
  struct Collector {
    std::vector<plugin::v1::CloudResponse> responses;
    Status status;

    // Called by the host: no exception may leave it.
    static void Put(void* context, otc_bytes record) noexcept {
      auto* self = static_cast<Collector*>(context);
      try {
        plugin::v1::CloudResponse response;
        if (!response.ParseFromArray(record.ptr, static_cast<int>(record.len)) ||
            response.index() >= self->responses.size()) {
          self->status = Status(Code::kUnknown, "BadResponse",
                                "the host gave a cloud response that cannot be read");
          return;
        }
        const std::size_t index = response.index();
        self->responses[index] = std::move(response);
      } catch (const std::exception&) {  // out of memory: a status without text
        self->status = Status(Code::kUnknown, "", "");
      }
    }
  };

  const otc_host_cloud_1* table_;
};

class Host {
 public:
  explicit Host(const otc_host* raw)
      : raw_(raw),
        log_(raw, Service<otc_host_log_1>("otc.host.log/1")),
        time_(raw, Service<otc_host_time_1>("otc.host.time/1")),
        metrics_(raw, Service<otc_host_metrics_1>("otc.host.metrics/1")),
        cloud_(Service<otc_host_cloud_1>("otc.host.cloud/1")),
        config_(Service<otc_host_config_1>("otc.host.config/1")) {}

  std::string_view role() const { return View(raw_->role); }
  std::string_view plugin_id() const { return View(raw_->plugin_id); }
  std::string_view version() const { return View(raw_->host_version); }  // for logs only
  const Log& log() const { return log_; }
  const Time& time() const { return time_; }
  const Metrics& metrics() const { return metrics_; }
  const Cloud& cloud() const { return cloud_; }

  // The configuration document (JSON) last accepted by Create or Reconfigure.
  Result<std::string> CurrentConfig() const {
    if (config_ == nullptr) return ServiceMissing("otc.host.config/1");
    Text document;
    const std::int32_t code = config_->current(raw_, otc_sink{&document, &Text::Put});
    if (code == OTC_OK && !document.lost) return std::move(document.text);
    const bool failed = code != OTC_OK && IsDefinedCode(code);
    return Status(failed ? static_cast<Code>(code) : Code::kUnknown, "ServiceRefused",
                  "the host did not give the configuration");
  }

  // The table of any service, for those without a wrapper here; null if absent.
  template <typename Table>
  const Table* Service(std::string_view id) const {
    return static_cast<const Table*>(raw_->get_service(raw_, Str(id)));
  }
  const otc_host* raw() const { return raw_; }

 private:
  struct Text {
    std::string text;
    bool lost = false;  // no memory for it

    // Called by the host: no exception may leave it.
    static void Put(void* context, otc_bytes record) noexcept {
      auto* self = static_cast<Text*>(context);
      try {
        self->text.assign(View(record));
      } catch (const std::exception&) {
        self->lost = true;
      }
    }
  };

  const otc_host* raw_;
  Log log_;
  Time time_;
  Metrics metrics_;
  Cloud cloud_;
  const otc_host_config_1* config_;
};

}  // namespace otc

#endif  // OTC_CPP_HOST_H_
