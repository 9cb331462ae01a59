#include "tests/sim/kube/call_log.h"

#include <algorithm>

namespace otc::kubesim {
namespace {

constexpr std::size_t kMaxCalls = 100'000;
constexpr std::size_t kMaxBody = 64 * 1024;

}  // namespace

std::uint64_t CallLog::Begin(Call call) {
  std::lock_guard<std::mutex> lock(mutex_);
  call.sequence = next_++;
  if (call.body.size() > kMaxBody) {
    call.body.resize(kMaxBody);
  }
  ++counters_.requests;
  counters_.lists += call.verb == "list" ? 1 : 0;
  counters_.watches += call.verb == "watch" ? 1 : 0;
  const bool read = call.verb == "get" || call.verb == "list" || call.verb == "watch";
  const bool write = call.verb == "create" || call.verb == "update" || call.verb == "patch" ||
                     call.verb == "delete" || call.verb == "deletecollection";
  counters_.reads += read ? 1 : 0;
  counters_.writes += write ? 1 : 0;
  calls_.push_back(std::move(call));
  if (calls_.size() > kMaxCalls) {
    calls_.pop_front();
  }
  return calls_.back().sequence;
}

Call* CallLog::FindCall(std::uint64_t sequence) {
  const auto found = std::lower_bound(
      calls_.begin(), calls_.end(), sequence,
      [](const Call& call, std::uint64_t wanted) { return call.sequence < wanted; });
  return found != calls_.end() && found->sequence == sequence ? &*found : nullptr;
}

void CallLog::SetStatus(std::uint64_t sequence, int status) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (Call* call = FindCall(sequence)) {
    call->status = status;
  }
}

void CallLog::CountFault(std::uint64_t sequence, std::uint64_t fault) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++counters_.faults;
  if (Call* call = FindCall(sequence)) {
    call->fault = fault;
  }
}

std::vector<Call> CallLog::All() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {calls_.begin(), calls_.end()};
}

void CallLog::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  calls_.clear();
  counters_ = Counters();
}

Counters CallLog::counters() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return counters_;
}

Json CallLog::ToJson(const Call& call) {
  return {{"sequence", call.sequence},
          {"unixMs", call.unix_ms},
          {"verb", call.verb},
          {"method", call.method},
          {"target", call.target},
          {"resource", call.resource},
          {"name", call.name},
          {"subresource", call.subresource},
          {"contentType", call.content_type},
          {"accept", call.accept},
          {"userAgent", call.user_agent},
          {"user", call.user},
          {"body", call.body},
          {"status", call.status},
          {"fault", call.fault}};
}

}  // namespace otc::kubesim
