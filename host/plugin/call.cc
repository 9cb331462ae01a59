#include "host/plugin/call.h"

#include <algorithm>

#include "host/base/strings.h"
#include "host/plugin/interfaces.h"

namespace otc::host::plugin_host {
namespace {

constexpr std::size_t kMaxReason = 63;
constexpr std::size_t kMaxMessage = 1024;

std::atomic<std::uint64_t> g_next_call_id{1};

bool IsKnownKind(std::uint32_t kind) {
  return kind >= OTC_EMIT_RESULT && kind <= OTC_EMIT_PROGRESS;
}

// [A-Z][A-Za-z0-9]{2,62}
bool IsReason(std::string_view text) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return text.size() >= 3 && text.size() <= kMaxReason && text[0] >= 'A' && text[0] <= 'Z' &&
         std::all_of(text.begin(), text.end(), alphanumeric);
}

// One line of valid UTF-8, at most 1,024 bytes.
std::string OneLine(std::string_view text) {
  std::string line = ReplaceInvalidUtf8(text.substr(0, kMaxMessage));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line;
}

std::uint64_t Nanos(MonoTime time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

}  // namespace

Call::Call(CallOptions options, const CallContext& context, ServiceHub* hub)
    : options_(std::move(options)), context_(context), hub_(hub) {
  context_.cancellation = Cancellation::Create(context.cancellation);
  request_id_ = !options_.request_id.empty()  ? options_.request_id
                : !context.request_id.empty() ? context.request_id
                                              : RandomUuid();
  context_.request_id = request_id_;
  handle_.self = this;
  otc_call& abi = handle_.abi;
  abi.struct_size = sizeof(otc_call);
  abi.flags = options_.dry_run ? OTC_CALL_DRY_RUN : 0;
  abi.call_id = g_next_call_id.fetch_add(1, std::memory_order_relaxed);
  abi.deadline_ns = Nanos(context_.deadline);
  abi.attempt = options_.attempt;
  abi.request_id = ToAbi(request_id_);
  abi.traceparent = ToAbi(context_.traceparent);
  abi.cancelled = [](const otc_call* call) { return From(call)->Cancelled(); };
  abi.emit = [](const otc_call* call, std::uint32_t kind, otc_bytes record) {
    return From(call)->Emit(kind, record);
  };
  abi.fail = [](const otc_call* call, std::int32_t code, otc_str reason, otc_str message,
                std::uint64_t retry_ms) {
    return From(call)->Fail(code, reason, message, retry_ms);
  };
}

Call* Call::From(const otc_call* call) {
  // The first member of Handle, which has standard layout.
  return reinterpret_cast<const Handle*>(call)->self;
}

std::int32_t Call::Cancelled() const {
  if (const std::int32_t ended = ended_.load(std::memory_order_acquire); ended != 0) return ended;
  std::int32_t now = 0;
  if (context_.cancellation->cancelled()) {
    now = OTC_CANCELLED;
  } else if (context_.deadline != MonoTime::max() && context_.clock->Now() >= context_.deadline) {
    now = OTC_DEADLINE_EXCEEDED;
  }
  if (now == 0) return 0;
  std::int32_t expected = 0;
  ended_.compare_exchange_strong(expected, now, std::memory_order_acq_rel);
  return expected == 0 ? now : expected;
}

std::int32_t Call::Emit(std::uint32_t kind, otc_bytes record) {
  if (record.len > 0 && record.ptr == nullptr) {
    NoteBug(kBadResult);
    return OTC_INVALID_ARGUMENT;
  }
  const std::lock_guard lock(mutex_);
  // A cancelled call is still listened to until its slot returns: what was found
  // out counts.
  if (abandoned_ || returned_) return OTC_CANCELLED;
  if (over_limit_ || record.len > kMaxRecordBytes || record.len > kMaxCallBytes - bytes_) {
    over_limit_ = true;
    return OTC_RESOURCE_EXHAUSTED;
  }
  if (!IsKnownKind(kind)) return OTC_OK;  // a later ABI's kind: harmless to drop
  bytes_ += record.len;
  std::string copy(reinterpret_cast<const char*>(record.ptr), record.len);
  if (kind == OTC_EMIT_RESULT && options_.results != CallOptions::Results::kStreamed) {
    // Two are enough to see that there was more than one.
    if (results_.size() < 2) results_.push_back(std::move(copy));
    return OTC_OK;
  }
  queue_.emplace_back(kind, std::move(copy));
  changed_.notify_all();
  return OTC_OK;
}

std::int32_t Call::Fail(std::int32_t code, otc_str reason, otc_str message,
                        std::uint64_t retry_ms) {
  Failure failure;
  failure.code = code;
  failure.reason = IsReason(ToView(reason)) ? std::string(ToView(reason)) : kUnspecified;
  failure.message = OneLine(ToView(message));
  failure.retry_after_ms = retry_ms;
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
  failed_ = true;
  if (code == OTC_OK) bug_ = kBadCode;
  return code;
}

void Call::NoteBug(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  bug_ = reason;
}

void Call::Returned(std::int32_t code) {
  const std::lock_guard lock(mutex_);
  code_ = code;
  returned_ = true;
  changed_.notify_all();
}

bool Call::Await(MonoTime limit, const OnRecord& on_record) {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (!queue_.empty()) {
      const auto [kind, record] = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      if (on_record) on_record(kind, record);
      lock.lock();
    }
    if (returned_) return true;
    if (given_up_ || context_.clock->Now() >= limit) {
      abandoned_ = true;
      return false;
    }
    context_.clock->WaitUntil(changed_, lock, limit);
  }
}

void Call::Cancel(const std::string& reason, const std::string& message) {
  context_.cancellation->Cancel(reason, message);
}

void Call::GiveUp() {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  changed_.notify_all();
}

bool Call::given_up() const {
  const std::lock_guard lock(mutex_);
  return given_up_;
}

Status Call::ReturnedStatus() const {
  if (!IsDefinedCode(code_)) {
    return Status(
        Code::kUnknown, kBadCode,
        "slot " + options_.slot + " returned " + std::to_string(code_) + ", which is no code");
  }
  if (code_ == OTC_OK) return Status::Ok();
  const auto code = static_cast<Code>(code_);
  if (failed_ && failure_.code == code_) {
    return Status(code, failure_.reason, failure_.message, failure_.retry_after_ms);
  }
  // Nothing was said, but the host knows why it stopped the call.
  const Status why = context_.Check();
  if (!why.ok() && why.code() == code) return why;
  return Status(code, kUnspecified, "slot " + options_.slot + " gave no reason");
}

CallOutcome Call::Outcome() {
  const std::lock_guard lock(mutex_);
  CallOutcome outcome;
  outcome.status = ReturnedStatus();
  outcome.plugin_bug = bug_;
  const auto bug = [&](const char* reason, const std::string& message) {
    outcome.plugin_bug = reason;
    outcome.status = Status(Code::kUnknown, reason, "slot " + options_.slot + " " + message);
  };
  if (over_limit_) {
    bug(kBadResult, "emitted more than 16 MiB in a record or 64 MiB in all");
  } else if (!IsDefinedCode(code_)) {
    outcome.plugin_bug = kBadCode;
  } else if (outcome.status.code() == Code::kUnknown &&
             outcome.status.reason() == kPluginException) {
    outcome.plugin_bug = kPluginException;
  } else if (outcome.status.ok() && options_.results == CallOptions::Results::kExactlyOne &&
             !(options_.dry_run && results_.empty())) {
    if (results_.empty()) {
      bug(kNoResult, "returned OK without a result");
    } else if (results_.size() > 1) {
      bug(kBadResult, "returned OK with more than one result");
    } else {
      outcome.result = std::move(results_[0]);
    }
  }
  return outcome;
}

CallOutcome Call::OverrunOutcome() const {
  return {Status(Code::kUnknown, kCallOverrun,
                 "slot " + options_.slot + " did not return in time, deadline and grace included"),
          "", kCallOverrun};
}

}  // namespace otc::host::plugin_host
