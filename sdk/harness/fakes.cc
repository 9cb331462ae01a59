#include "sdk/harness/fakes.h"

#include <algorithm>

#include "otc/plugin.h"

namespace otc::harness {
namespace {

bool Fits(std::string_view pattern, std::string_view text) {
  if (!pattern.empty() && pattern.back() == '*') {
    pattern.remove_suffix(1);
    return text.substr(0, pattern.size()) == pattern;
  }
  return pattern == text;
}

// The canonical code of an HTTP status, as the host maps it.
std::int32_t CodeOf(std::uint32_t status) {
  if (status >= 200 && status < 300) return OTC_OK;
  switch (status) {
    case 400:
      return OTC_INVALID_ARGUMENT;
    case 401:
      return OTC_UNAUTHENTICATED;
    case 403:
      return OTC_PERMISSION_DENIED;
    case 404:
      return OTC_NOT_FOUND;
    case 409:
      return OTC_ABORTED;
    case 429:
      return OTC_RESOURCE_EXHAUSTED;
    default:
      return status >= 500 ? OTC_UNAVAILABLE : OTC_UNKNOWN;
  }
}

}  // namespace

void FakeClock::AdvanceTo(std::uint64_t monotonic_ns) {
  const std::uint64_t wanted =
      monotonic_ns > kStartMonotonicNs ? monotonic_ns - kStartMonotonicNs : 0;
  std::uint64_t now = elapsed_ns_.load();
  while (now < wanted && !elapsed_ns_.compare_exchange_weak(now, wanted)) {
  }
}

std::string LogLine::Text() const {
  static constexpr const char* kNames[] = {"LEVEL0", "ERROR", "WARN", "INFO", "DEBUG"};
  std::string out = level < 5 ? kNames[level] : "LEVEL" + std::to_string(level);
  out += " " + message;
  for (const auto& [key, value] : fields) out += " " + key + "=" + value;
  return out;
}

void LogCapture::Write(LogLine line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  lines_.push_back(std::move(line));
}

std::vector<LogLine> LogCapture::lines() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return lines_;
}

bool LogCapture::Contains(std::string_view text) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(lines_.begin(), lines_.end(), [text](const LogLine& line) {
    return line.Text().find(text) != std::string::npos;
  });
}

std::int32_t MetricsRecorder::Define(const pb::MetricDefinition& definition,
                                     std::uint64_t* handle) {
  if (definition.name().empty() || definition.kind() == pb::METRIC_KIND_UNSPECIFIED ||
      definition.label_names_size() > 4) {
    return OTC_INVALID_ARGUMENT;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const pb::MetricDefinition& other = metrics_[i].definition;
    if (other.name() != definition.name()) continue;
    if (other.SerializeAsString() != definition.SerializeAsString()) return OTC_ALREADY_EXISTS;
    *handle = i + 1;
    return OTC_OK;
  }
  metrics_.push_back({definition, {}});
  *handle = metrics_.size();
  return OTC_OK;
}

bool MetricsRecorder::Record(std::uint64_t handle, double value,
                             const std::vector<std::string>& labels) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (handle == 0 || handle > metrics_.size()) return false;
  Metric& metric = metrics_[handle - 1];
  if (labels.size() != static_cast<std::size_t>(metric.definition.label_names_size())) return false;
  double& slot = metric.values[labels];
  slot = metric.definition.kind() == pb::METRIC_KIND_GAUGE ? value : slot + value;
  return true;
}

double MetricsRecorder::Value(std::string_view name, const std::vector<std::string>& labels) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Metric& metric : metrics_) {
    if (metric.definition.name() != name) continue;
    const auto found = metric.values.find(labels);
    if (found != metric.values.end()) return found->second;
  }
  return 0;
}

std::vector<std::string> MetricsRecorder::Names() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> out;
  for (const Metric& metric : metrics_) out.push_back(metric.definition.name());
  return out;
}

bool MetricsRecorder::Contains(std::string_view text) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Metric& metric : metrics_) {
    if (metric.definition.help().find(text) != std::string::npos) return true;
    for (const auto& [labels, value] : metric.values) {
      for (const std::string& label : labels) {
        if (label.find(text) != std::string::npos) return true;
      }
    }
  }
  return false;
}

void ScriptedCloud::On(std::string method, std::string path, Handler handler) {
  const std::lock_guard<std::mutex> lock(mutex_);
  rules_.push_back({std::move(method), std::move(path), std::move(handler)});
}

void ScriptedCloud::On(std::string method, std::string path, std::uint32_t http_status,
                       std::string body) {
  On(std::move(method), std::move(path),
     [http_status, body](const pb::CloudRequest&) { return Reply(http_status, body); });
}

void ScriptedCloud::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  rules_.clear();
}

pb::CloudResponse ScriptedCloud::Answer(const pb::CloudRequest& request) {
  Handler handler;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(request);
    for (const Rule& rule : rules_) {
      if (!Fits(rule.method, request.method()) || !Fits(rule.path, request.path())) continue;
      handler = rule.handler;
      break;
    }
  }
  if (handler) return handler(request);  // outside of the lock: it may look at requests()
  return Reply(404, R"({"error_msg":"no rule of the script fits","error_code":"APIGW.0101"})");
}

std::vector<pb::CloudRequest> ScriptedCloud::requests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

int ScriptedCloud::Count(std::string_view method, std::string_view prefix) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(
      std::count_if(requests_.begin(), requests_.end(), [&](const pb::CloudRequest& request) {
        return Fits(method, request.method()) &&
               std::string_view(request.path()).substr(0, prefix.size()) == prefix;
      }));
}

pb::CloudResponse ScriptedCloud::Reply(std::uint32_t http_status, std::string body) {
  pb::CloudResponse response;
  response.set_outcome(pb::OUTCOME_ANSWERED);
  response.set_http_status(http_status);
  response.set_code(CodeOf(http_status));
  response.set_body(std::move(body));
  response.set_request_id("scripted-request");
  response.set_attempts(1);
  return response;
}

pb::CloudResponse ScriptedCloud::Absent(std::string service_code) {
  pb::CloudResponse response = Reply(404, "{}");
  response.set_service_code(std::move(service_code));
  response.set_proves_absence(true);
  return response;
}

pb::CloudResponse ScriptedCloud::Unclear() {
  pb::CloudResponse response;
  response.set_outcome(pb::OUTCOME_UNCLEAR);
  response.set_code(OTC_UNAVAILABLE);
  response.set_message("the connection broke before the answer");
  response.set_attempts(1);
  return response;
}

pb::CloudResponse ScriptedCloud::NotSent() {
  pb::CloudResponse response;
  response.set_outcome(pb::OUTCOME_NOT_SENT);
  response.set_code(OTC_UNAVAILABLE);
  response.set_message("no connection");
  return response;
}

}  // namespace otc::harness
