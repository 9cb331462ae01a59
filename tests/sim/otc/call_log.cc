#include "tests/sim/otc/call_log.h"

#include <cerrno>
#include <cstring>

#include "host/base/strings.h"
#include "tests/sim/otc/json.h"

namespace otc::sim {
namespace {

// "SDK-HMAC-SHA256 Credential=…, SignedHeaders=a;b" without key and signature.
std::string DescribeAuthorization(const std::string& value) {
  std::string text = value.find(" Credential=") != std::string::npos ? "Credential" : "Access";
  const auto list = value.find("SignedHeaders=");
  if (list == std::string::npos) return "(malformed)";
  return text + " " + value.substr(list, value.find(',', list) - list);
}

}  // namespace

std::vector<Header> LoggableHeaders(const std::vector<Header>& headers) {
  std::vector<Header> out;
  for (const Header& header : headers) {
    const std::string name = host::ToLower(header.name);
    if (name == "authorization") {
      out.push_back({header.name, DescribeAuthorization(header.value)});
    } else if (name == "x-auth-token" || name == "x-security-token" || name == "x-subject-token" ||
               name == "x-metadata-token") {
      out.push_back({header.name, "(present)"});
    } else {
      out.push_back(header);
    }
  }
  return out;
}

std::string LoggedCall::ToJson() const {
  JsonWriter json;
  json.BeginObject().Field("seq", seq).Field("unix_ms", unix_ms);
  json.Field("service", service).Field("method", method).Field("target", target);
  json.Field("operation", operation).Field("project_id", project_id);
  json.Field("auth", auth).Field("access_key", access_key);
  json.Field("request_id", request_id).Field("status", status);
  json.Field("delivery", delivery).Field("fault", fault).Field("handled", handled);
  json.Field("response_bytes", response_bytes).Field("micros", micros);
  json.Key("headers").BeginObject();
  for (const Header& header : headers) json.Field(header.name, header.value);
  json.EndObject().Field("body", body).EndObject();
  return json.Take();
}

Status CallLog::OpenFile(const std::string& path) {
  std::lock_guard lock(mutex_);
  file_.open(path, std::ios::app);
  if (file_) return Status::Ok();
  return Status(Code::kInvalidArgument, "CannotOpen",
                "call log " + path + ": " + std::strerror(errno));
}

void CallLog::Add(LoggedCall call) {
  std::lock_guard lock(mutex_);
  call.seq = next_seq_++;
  const std::string name = call.operation.empty() ? call.service + " -" : call.operation;
  ++counters_[name + " " + std::to_string(call.status)];
  ++by_operation_[name];
  if (file_.is_open()) file_ << call.ToJson() << '\n' << std::flush;
  calls_.push_back(std::move(call));
  if (calls_.size() > limit_) calls_.pop_front();
}

std::vector<LoggedCall> CallLog::Since(std::int64_t after) const {
  std::lock_guard lock(mutex_);
  std::vector<LoggedCall> calls;
  for (const LoggedCall& call : calls_) {
    if (call.seq > after) calls.push_back(call);
  }
  return calls;
}

std::map<std::string, std::int64_t> CallLog::Counters() const {
  std::lock_guard lock(mutex_);
  return counters_;
}

std::int64_t CallLog::Count(const std::string& operation) const {
  std::lock_guard lock(mutex_);
  const auto it = by_operation_.find(operation);
  return it == by_operation_.end() ? 0 : it->second;
}

void CallLog::Clear() {
  std::lock_guard lock(mutex_);
  calls_.clear();
  counters_.clear();
  by_operation_.clear();
}

}  // namespace otc::sim
