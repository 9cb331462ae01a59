#include "host/plugin/service_hub.h"

#include "host/plugin/call.h"
#include "host/plugin/interfaces.h"

namespace otc::host::plugin_host {
namespace {

thread_local int t_sink_depth = 0;

constexpr char kLogId[] = "otc.host.log/1";
constexpr char kCloudId[] = "otc.host.cloud/1";
constexpr char kConfigId[] = "otc.host.config/1";
constexpr char kMetricsId[] = "otc.host.metrics/1";
constexpr char kTimeId[] = "otc.host.time/1";

std::int32_t LogEnabled(const otc_host* host, std::uint32_t level) {
  const ServiceHub* hub = ServiceHub::From(host);
  return !hub->abandoned() && hub->deps().log->Enabled(level) ? 1 : 0;
}

void LogWrite(const otc_host* host, const otc_call* call, std::uint32_t level, otc_str message,
              const otc_kv* fields, std::uint64_t field_count) {
  const ServiceHub* hub = ServiceHub::From(host);
  if (hub->abandoned()) return;
  std::string request_id, subject;
  if (call != nullptr) {
    const Call* known = Call::From(call);
    request_id = known->context().request_id;
    subject = known->options().subject;
  }
  hub->deps().log->Write(level, message, fields, field_count, request_id, subject);
}

std::int32_t ConfigCurrent(const otc_host* host, otc_sink sink) {
  const ServiceHub* hub = ServiceHub::From(host);
  const auto document = hub->accepted_config();
  if (InSink::Active() || !document || sink.put == nullptr) return OTC_FAILED_PRECONDITION;
  const InSink inside;
  sink.put(sink.ctx, {reinterpret_cast<const std::uint8_t*>(document->data()), document->size()});
  return OTC_OK;
}

std::int32_t MetricsDefine(const otc_host* host, otc_bytes definition, std::uint64_t* handle) {
  const ServiceHub* hub = ServiceHub::From(host);
  if (hub->abandoned() || InSink::Active()) return OTC_FAILED_PRECONDITION;
  return hub->deps().metrics->Define(definition, handle);
}

void MetricsRecord(const otc_host* host, std::uint64_t handle, double value,
                   const otc_str* label_values, std::uint64_t label_count) {
  const ServiceHub* hub = ServiceHub::From(host);
  if (hub->abandoned()) return;
  hub->deps().metrics->Record(handle, value, label_values, label_count);
}

std::uint64_t TimeMonotonic(const otc_host* host) {
  const ServiceHub* hub = ServiceHub::From(host);
  // The host's clock may be gone; time itself goes on.
  const MonoTime now = hub->abandoned() ? SystemClock().Now() : hub->deps().clock->Now();
  return static_cast<std::uint64_t>(now.time_since_epoch().count());
}

std::int64_t TimeUnix(const otc_host* host) {
  const ServiceHub* hub = ServiceHub::From(host);
  const WallTime now = hub->abandoned() ? SystemClock().Wall() : hub->deps().clock->Wall();
  return now.time_since_epoch().count();
}

std::int32_t TimeSleepUntil(const otc_call* call, std::uint64_t monotonic_ns) {
  Call* known = Call::From(call);
  if (InSink::Active()) {
    known->NoteBug("CallInSink");
    return OTC_FAILED_PRECONDITION;
  }
  if (const std::int32_t ended = known->Cancelled(); ended != 0) return ended;
  const auto limit = static_cast<std::uint64_t>(MonoTime::max().time_since_epoch().count());
  const MonoTime until{Duration(static_cast<std::int64_t>(std::min(monotonic_ns, limit)))};
  const Status slept = known->context().SleepUntil(until);
  if (slept.ok()) return OTC_OK;
  const std::int32_t ended = known->Cancelled();
  return ended != 0 ? ended : static_cast<std::int32_t>(slept.code());
}

constexpr otc_host_log_1 kLogTable = {sizeof(otc_host_log_1), 0, LogEnabled, LogWrite};
constexpr otc_host_config_1 kConfigTable = {sizeof(otc_host_config_1), 0, ConfigCurrent};
constexpr otc_host_metrics_1 kMetricsTable = {sizeof(otc_host_metrics_1), 0, MetricsDefine,
                                              MetricsRecord};
constexpr otc_host_time_1 kTimeTable = {sizeof(otc_host_time_1), 0, TimeMonotonic, TimeUnix,
                                        TimeSleepUntil};

}  // namespace

// otc.host.kube and otc.host.exec/1 come with the issues that need them.
inspect::ServiceSizes OfferedServices(Role, bool has_cloud) {
  inspect::ServiceSizes services = {{kLogId, sizeof(otc_host_log_1)},
                                    {kConfigId, sizeof(otc_host_config_1)},
                                    {kMetricsId, sizeof(otc_host_metrics_1)},
                                    {kTimeId, sizeof(otc_host_time_1)}};
  if (has_cloud) services[kCloudId] = sizeof(otc_host_cloud_1);
  return services;
}

ServiceHub::ServiceHub(const ServiceDeps& deps)
    : deps_(deps), offered_(OfferedServices(deps.role, deps.exchange != nullptr)) {
  handle_.self = this;
  otc_host& abi = handle_.abi;
  abi.struct_size = sizeof(otc_host);
  abi.abi_major = OTC_ABI_MAJOR;
  abi.abi_minor = OTC_ABI_MINOR;
  abi.host_version = ToAbi(deps_.host_version);
  abi.role = ToAbi(RoleName(deps_.role));
  abi.plugin_id = ToAbi(deps_.manifest->id);
  abi.get_service = [](const otc_host* host, otc_str id) { return From(host)->Find(ToView(id)); };
}

ServiceHub* ServiceHub::From(const otc_host* host) {
  // The first member of Handle, which has standard layout.
  return reinterpret_cast<const Handle*>(host)->self;
}

const void* ServiceHub::Find(std::string_view id) const {
  if (abandoned() || offered_.find(id) == offered_.end() || !deps_.manifest->Names(id)) {
    return nullptr;
  }
  if (id == kLogId) return &kLogTable;
  if (id == kCloudId) return CloudServiceTable();
  if (id == kConfigId) return &kConfigTable;
  if (id == kMetricsId) return &kMetricsTable;
  if (id == kTimeId) return &kTimeTable;
  return nullptr;
}

void ServiceHub::SetAcceptedConfig(std::string document) {
  auto shared = std::make_shared<const std::string>(std::move(document));
  const std::lock_guard lock(mutex_);
  config_ = std::move(shared);
}

std::shared_ptr<const std::string> ServiceHub::accepted_config() const {
  const std::lock_guard lock(mutex_);
  return config_;
}

InSink::InSink() { ++t_sink_depth; }
InSink::~InSink() { --t_sink_depth; }
bool InSink::Active() { return t_sink_depth > 0; }

}  // namespace otc::host::plugin_host
