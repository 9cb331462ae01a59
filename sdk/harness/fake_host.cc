#include "sdk/harness/fake_host.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "otc/cpp/text.h"

namespace otc::harness {
namespace {

// Set while the host is inside a plugin's sink.put, where services are forbidden.
thread_local bool in_put = false;

void Put(otc_sink sink, std::string_view record) {
  const Guarded memory(record);  // gone after the call: nothing may keep it
  in_put = true;
  sink.put(sink.ctx, memory.bytes());
  in_put = false;
}

void RefuseInsidePut(FakeHost& host, const char* service) {
  if (!in_put) return;
  host.AddViolation({"ABI-R36", std::string(service) + " called inside sink.put",
                     "only emit, fail, cancelled and log there",
                     "keep the record and call the service after it returned"});
}

bool Listed(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// An effect that is not a READ counts as WRITE, and so do methods that cannot read.
bool IsWrite(const pb::CloudRequest& request) { return request.effect() != pb::EFFECT_READ; }

bool MethodCannotRead(const std::string& method) {
  return method == "PUT" || method == "PATCH" || method == "DELETE";
}

// Why a batch is not sent at all; empty if it is fine.
std::string BatchProblem(const pb::CloudBatch& batch, const inspect::Manifest& manifest) {
  if (batch.requests_size() == 0) return "an empty batch";
  if (batch.max_parallel() > 8) return "max_parallel above 8";
  for (const pb::CloudRequest& request : batch.requests()) {
    if (!Listed(manifest.cloud, request.service())) {
      return "service \"" + request.service() + "\", which cloud= of the manifest does not name";
    }
    if (request.method().empty()) return "a request without method";
    if (request.path().empty() || request.path()[0] != '/') return "a path without / at its start";
    if (!IsWrite(request) && MethodCannotRead(request.method())) {
      return request.method() + " marked as READ";
    }
  }
  return "";
}

}  // namespace

// The slots of the services. Everything that a plugin passes is read here, during
// the call, and copied.
struct ServiceSlots {
  static std::int32_t LogEnabled(const otc_host*, std::uint32_t level) {
    return level >= OTC_LOG_ERROR && level <= OTC_LOG_DEBUG ? 1 : 0;
  }
  static void LogWrite(const otc_host* host, const otc_call* call, std::uint32_t level,
                       otc_str message, const otc_kv* fields, std::uint64_t count) {
    FakeHost& fake = HostFace::Of(host).host();
    if (count > 32) {
      fake.AddViolation({"ABI-R36", "a log line with " + std::to_string(count) + " fields",
                         "at most 32 fields", "write fewer fields"});
      count = 32;
    }
    LogLine line;
    line.level = level;
    line.message = View(message);
    line.with_call = call != nullptr;
    for (std::uint64_t i = 0; i < count; ++i) {
      line.fields.emplace_back(View(fields[i].key), View(fields[i].value));
    }
    fake.log_.Write(std::move(line));
  }

  static std::uint64_t MonotonicNs(const otc_host* host) {
    return HostFace::Of(host).host().clock_.MonotonicNs();
  }
  static std::int64_t UnixNs(const otc_host* host) {
    return HostFace::Of(host).host().clock_.UnixNs();
  }
  static std::int32_t SleepUntil(const otc_call* call, std::uint64_t monotonic_ns) {
    CallFrame& frame = CallFrame::Of(call);
    RefuseInsidePut(frame.host(), "sleep_until");
    if (const std::int32_t code = frame.Cancelled()) return code;
    frame.host().clock_.AdvanceTo(std::min(monotonic_ns, call->deadline_ns));
    return frame.Cancelled();
  }

  static std::int32_t ConfigCurrent(const otc_host* host, otc_sink sink) {
    Put(sink, HostFace::Of(host).config());
    return OTC_OK;
  }

  static std::int32_t MetricsDefine(const otc_host* host, otc_bytes bytes, std::uint64_t* handle) {
    FakeHost& fake = HostFace::Of(host).host();
    RefuseInsidePut(fake, "metrics.define");
    pb::MetricDefinition definition;
    if (!definition.ParseFromArray(bytes.ptr, static_cast<int>(bytes.len))) {
      return OTC_INVALID_ARGUMENT;
    }
    return fake.metrics_.Define(definition, handle);
  }
  static void MetricsRecord(const otc_host* host, std::uint64_t handle, double value,
                            const otc_str* values, std::uint64_t count) {
    FakeHost& fake = HostFace::Of(host).host();
    RefuseInsidePut(fake, "metrics.record");
    std::vector<std::string> labels;
    for (std::uint64_t i = 0; i < count; ++i) labels.emplace_back(View(values[i]));
    if (fake.metrics_.Record(handle, value, labels)) return;
    fake.AddViolation({"ABI-R37",
                       "a metric value for handle " + std::to_string(handle) + " with " +
                           std::to_string(count) + " labels",
                       "a defined handle and as many values as label names",
                       "keep the handle from define and pass all label values"});
  }

  static std::int32_t Exchange(const otc_call* call, otc_bytes bytes, otc_sink sink) {
    CallFrame& frame = CallFrame::Of(call);
    FakeHost& fake = frame.host();
    RefuseInsidePut(fake, "cloud.exchange");
    if (const std::int32_t code = frame.Cancelled()) return code;
    pb::CloudBatch batch;
    if (!batch.ParseFromArray(bytes.ptr, static_cast<int>(bytes.len))) return OTC_INVALID_ARGUMENT;
    const std::string problem = BatchProblem(batch, frame.manifest());
    if (!problem.empty()) {
      frame.Violate("ABI-R36", "a cloud batch with " + problem,
                    "requests that the host can send for this plugin",
                    "correct the request, or name the service in cloud=");
      return OTC_INVALID_ARGUMENT;
    }
    for (const pb::CloudRequest& request : batch.requests()) {
      if (!IsWrite(request)) continue;
      frame.NoteWrite(request.method() + " " + request.path());
      if (frame.dry_run()) return OTC_FAILED_PRECONDITION;
    }
    CloudClient* client = fake.cloud_.load();
    if (client == nullptr) client = &fake.scripted_;
    bool stopped = false;
    for (int i = 0; i < batch.requests_size(); ++i) {
      pb::CloudResponse response =
          stopped ? ScriptedCloud::NotSent() : client->Answer(batch.requests(i));
      response.set_index(static_cast<std::uint32_t>(i));
      if (response.code() != OTC_OK && batch.stop_on_error()) stopped = true;
      Put(sink, response.SerializeAsString());
    }
    return OTC_OK;
  }

  static std::int32_t KubeRead(const otc_call* call, otc_bytes bytes, otc_sink sink) {
    CallFrame& frame = CallFrame::Of(call);
    RefuseInsidePut(frame.host(), "kube.read");
    if (const std::int32_t code = frame.Cancelled()) return code;
    pb::KubeRead request;
    if (!request.ParseFromArray(bytes.ptr, static_cast<int>(bytes.len))) {
      return OTC_INVALID_ARGUMENT;
    }
    std::vector<pb::KubeObject> objects;
    const std::int32_t code = frame.host().kube_read_(request, &objects);
    for (const pb::KubeObject& object : objects) Put(sink, object.SerializeAsString());
    return code;
  }
  static std::int32_t KubeWrite(const otc_call* call, otc_bytes bytes, otc_sink sink) {
    CallFrame& frame = CallFrame::Of(call);
    RefuseInsidePut(frame.host(), "kube.write");
    if (const std::int32_t code = frame.Cancelled()) return code;
    pb::KubeWrite request;
    if (!request.ParseFromArray(bytes.ptr, static_cast<int>(bytes.len))) {
      return OTC_INVALID_ARGUMENT;
    }
    frame.NoteWrite(request.resource() + " " + request.name());
    if (frame.dry_run()) return OTC_FAILED_PRECONDITION;
    std::vector<pb::KubeObject> objects;
    const std::int32_t code = frame.host().kube_write_(request, &objects);
    for (const pb::KubeObject& object : objects) Put(sink, object.SerializeAsString());
    return code;
  }

  static std::int32_t ExecRun(const otc_call* call, otc_bytes bytes, otc_sink sink) {
    CallFrame& frame = CallFrame::Of(call);
    RefuseInsidePut(frame.host(), "exec.run");
    pb::ExecRequest request;
    if (!request.ParseFromArray(bytes.ptr, static_cast<int>(bytes.len))) {
      return OTC_INVALID_ARGUMENT;
    }
    if (!Listed(frame.manifest().exec, request.tool())) return OTC_PERMISSION_DENIED;
    frame.NoteWrite("exec " + request.tool());
    if (frame.dry_run()) return OTC_FAILED_PRECONDITION;
    pb::ExecResult result;
    const std::int32_t code = frame.host().exec_(request, &result);
    if (code == OTC_OK) Put(sink, result.SerializeAsString());
    return code;
  }
};

namespace {

template <typename Table>
void Fill(const Guarded& memory, Table table) {
  table.struct_size = sizeof(Table);
  std::memcpy(memory.data(), &table, sizeof(table));
}

}  // namespace

FakeHost::FakeHost()
    : log_table_(sizeof(otc_host_log_1), 8),
      time_table_(sizeof(otc_host_time_1), 8),
      config_table_(sizeof(otc_host_config_1), 8),
      metrics_table_(sizeof(otc_host_metrics_1), 8),
      cloud_table_(sizeof(otc_host_cloud_1), 8),
      kube_table_(sizeof(otc_host_kube_1), 8),
      exec_table_(sizeof(otc_host_exec_1), 8) {
  using Slots = ServiceSlots;
  Fill(log_table_, otc_host_log_1{0, 0, &Slots::LogEnabled, &Slots::LogWrite});
  Fill(time_table_, otc_host_time_1{0, 0, &Slots::MonotonicNs, &Slots::UnixNs, &Slots::SleepUntil});
  Fill(config_table_, otc_host_config_1{0, 0, &Slots::ConfigCurrent});
  Fill(metrics_table_, otc_host_metrics_1{0, 0, &Slots::MetricsDefine, &Slots::MetricsRecord});
  Fill(cloud_table_, otc_host_cloud_1{0, 0, &Slots::Exchange});
  Fill(kube_table_, otc_host_kube_1{0, 0, &Slots::KubeRead, &Slots::KubeWrite});
  Fill(exec_table_, otc_host_exec_1{0, 0, &Slots::ExecRun});
}

void FakeHost::SetKube(KubeReadHandler read, KubeWriteHandler write) {
  kube_read_ = std::move(read);
  kube_write_ = std::move(write);
}

void FakeHost::SetExec(ExecHandler run) { exec_ = std::move(run); }

const void* FakeHost::Table(std::string_view id) const {
  if (id == "otc.host.log/1") return log_table_.data();
  if (id == "otc.host.time/1") return time_table_.data();
  if (id == "otc.host.config/1") return config_table_.data();
  if (id == "otc.host.metrics/1") return metrics_table_.data();
  if (id == "otc.host.cloud/1") return cloud_table_.data();
  if (id == "otc.host.kube/draft-1")
    return kube_read_ && kube_write_ ? kube_table_.data() : nullptr;
  if (id == "otc.host.exec/1") return exec_ ? exec_table_.data() : nullptr;
  return nullptr;
}

inspect::ServiceSizes FakeHost::services() const {
  inspect::ServiceSizes sizes;
  for (const char* id :
       {"otc.host.log/1", "otc.host.time/1", "otc.host.config/1", "otc.host.metrics/1",
        "otc.host.cloud/1", "otc.host.kube/draft-1", "otc.host.exec/1"}) {
    if (const void* table = Table(id)) sizes[id] = *static_cast<const std::uint32_t*>(table);
  }
  return sizes;
}

std::vector<Violation> FakeHost::violations() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return violations_;
}

std::string FakeHost::ViolationText() const {
  std::string out;
  for (const Violation& violation : violations()) out += violation.ToString() + "\n";
  return out;
}

void FakeHost::AddViolation(Violation violation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  violations_.push_back(std::move(violation));
}

void FakeHost::ClearViolations() {
  const std::lock_guard<std::mutex> lock(mutex_);
  violations_.clear();
}

HostFace::HostFace(FakeHost& host, const inspect::Manifest& manifest, const std::string& role)
    : host_(host),
      manifest_(manifest),
      version_("0.0.0-harness"),
      role_(role),
      plugin_id_(manifest.id),
      memory_(sizeof(HostFace*) + sizeof(otc_host), 8) {
  auto* const face = static_cast<HostFace**>(memory_.data());
  *face = this;
  auto* const raw = reinterpret_cast<otc_host*>(face + 1);
  raw->struct_size = sizeof(otc_host);
  raw->abi_major = OTC_ABI_MAJOR;
  raw->abi_minor = OTC_ABI_MINOR;
  raw->host_version = version_.str();
  raw->role = role_.str();
  raw->plugin_id = plugin_id_.str();
  raw->get_service = &GetService;
}

const otc_host* HostFace::raw() const {
  return reinterpret_cast<const otc_host*>(static_cast<HostFace**>(memory_.data()) + 1);
}

HostFace& HostFace::Of(const otc_host* host) {
  return **(reinterpret_cast<HostFace* const*>(host) - 1);
}

const void* HostFace::GetService(const otc_host* host, otc_str id) {
  HostFace& face = Of(host);
  RefuseInsidePut(face.host_, "get_service");
  if (!face.manifest_.Names(View(id))) return nullptr;
  return face.host_.Table(View(id));
}

void HostFace::SetConfig(std::string document) {
  const std::lock_guard<std::mutex> lock(mutex_);
  config_ = std::move(document);
}

std::string HostFace::config() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return config_;
}

}  // namespace otc::harness
