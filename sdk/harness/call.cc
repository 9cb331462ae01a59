#include "sdk/harness/call.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "otc/cpp/call.h"
#include "otc/cpp/text.h"
#include "sdk/harness/fake_host.h"

namespace otc::harness {
namespace {

constexpr std::uint64_t kMaxRecord = 16u << 20;
constexpr std::uint64_t kMaxAllRecords = 64u << 20;
constexpr std::uint64_t kMaxMessage = 1024;
constexpr std::uint32_t kCallSize = 88;

std::int64_t RealMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <typename Message>
bool Keep(otc_bytes record, std::vector<Message>* to) {
  Message message;
  if (!message.ParseFromArray(record.ptr, static_cast<int>(record.len))) return false;
  to->push_back(std::move(message));
  return true;
}

std::string CodeText(std::int32_t code) {
  return std::to_string(code) +
         (IsDefinedCode(code) ? std::string(" ") + CodeName(static_cast<Code>(code)) : "");
}

}  // namespace

CallFrame::CallFrame(FakeHost& host, const inspect::Manifest& manifest, const SlotSpec& spec,
                     const CallOptions& options)
    : host_(host),
      manifest_(manifest),
      spec_(spec),
      options_(options),
      request_id_(options.request_id),
      traceparent_(std::string_view()),
      memory_(sizeof(CallFrame*) + kCallSize, 8) {
  auto* const frame = static_cast<CallFrame**>(memory_.data());
  *frame = this;
  auto* const call = reinterpret_cast<otc_call*>(frame + 1);
  deadline_ns_ = host.clock().MonotonicNs() + options.timeout_ms * 1'000'000;
  call->struct_size = kCallSize;
  call->flags = options.dry_run ? OTC_CALL_DRY_RUN : 0;
  call->call_id = host.NextCallId();
  call->deadline_ns = deadline_ns_;
  call->attempt = options.attempt;
  call->request_id = request_id_.str();
  call->traceparent = traceparent_.str();
  call->cancelled = &CancelledSlot;
  call->emit = &EmitSlot;
  call->fail = &FailSlot;
}

CallFrame::~CallFrame() = default;

const otc_call* CallFrame::raw() const {
  return reinterpret_cast<const otc_call*>(static_cast<CallFrame**>(memory_.data()) + 1);
}

CallFrame& CallFrame::Of(const otc_call* call) {
  return **(reinterpret_cast<CallFrame* const*>(call) - 1);
}

void CallFrame::Violate(std::string rule, std::string found, std::string wanted,
                        std::string advice) {
  Violation violation{std::move(rule), std::string("slot ") + spec_.name + ": " + std::move(found),
                      std::move(wanted), std::move(advice)};
  host_.AddViolation(violation);
  const std::lock_guard<std::mutex> lock(mutex_);
  result_.violations.push_back(std::move(violation));
}

std::int32_t CallFrame::CancelledSlot(const otc_call* call) { return Of(call).Cancelled(); }

std::int32_t CallFrame::Cancelled() {
  std::int32_t code = options_.cancel ? options_.cancel->code() : OTC_OK;
  if (code == OTC_OK && host_.clock().MonotonicNs() >= deadline_ns_) code = OTC_DEADLINE_EXCEEDED;
  if (code != OTC_OK) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (cancel_seen_ms_ < 0) cancel_seen_ms_ = RealMs();
  }
  return code;
}

std::int32_t CallFrame::EmitSlot(const otc_call* call, std::uint32_t kind, otc_bytes record) {
  return Of(call).Emit(kind, record);
}

std::int32_t CallFrame::Emit(std::uint32_t kind, otc_bytes record) {
  const std::lock_guard<std::mutex> lock(mutex_);
  emitted_bytes_ += std::min(record.len, kMaxAllRecords + 1);
  if (record.len > kMaxRecord || emitted_bytes_ > kMaxAllRecords) {
    over_limit_ = true;
    return OTC_RESOURCE_EXHAUSTED;
  }
  bool valid = true;
  switch (kind) {
    case OTC_EMIT_RESULT:
      result_.results.emplace_back(View(record));
      break;
    case OTC_EMIT_PLAN:
      valid = Keep(record, &result_.plans);
      break;
    case OTC_EMIT_EVENT:
      valid = Keep(record, &result_.events);
      break;
    case OTC_EMIT_PROGRESS:
      valid = Keep(record, &result_.progress);
      break;
    default:  // a later kind: dropped
      break;
  }
  if (!valid) bad_record_ = true;
  return OTC_OK;
}

std::int32_t CallFrame::FailSlot(const otc_call* call, std::int32_t code, otc_str reason,
                                 otc_str message, std::uint64_t retry_after_ms) {
  Of(call).Fail(code, reason, message, retry_after_ms);
  return code;
}

void CallFrame::Fail(std::int32_t code, otc_str reason, otc_str message,
                     std::uint64_t retry_after_ms) {
  if (code == OTC_OK) {
    Violate("ABI-R13", "fail(OTC_OK, …)", "fail with the code of an error",
            "return OTC_OK without calling fail");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  fail_ = {true, code, std::string(View(reason)), std::string(View(message)), retry_after_ms};
}

void CallFrame::NoteWrite(const std::string& what) {
  bool first;
  bool planned;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    first = writes_++ == 0;
    planned = !result_.plans.empty();
  }
  if (spec_.read_only) {
    Violate("ABI-R25", "a WRITE: " + what, "no WRITE in start, get and describe",
            "move the write to a slot that may write, or mark a search as EFFECT_READ");
  }
  if (spec_.plans_first && first && !planned) {
    Violate("ABI-R26", "a WRITE before any PLAN record: " + what,
            "PLAN records for all steps before the first WRITE",
            "decide first, emit the plan, then act");
  }
  if (options_.dry_run) {
    Violate("ABI-R26", "a WRITE in a dry run: " + what, "no WRITE in a dry run",
            "stop after the PLAN records when OTC_CALL_DRY_RUN is set");
  }
}

void CallFrame::JudgeCode(std::int32_t code) {
  if (!IsDefinedCode(code)) {
    Violate("ABI-R13", "code " + std::to_string(code), "OTC_OK, a gRPC code or OTC_PENDING",
            "return a code of otc/plugin.h");
    return;
  }
  if (code == OTC_OK) return;
  if (!fail_.called || fail_.code != code) {
    Violate("ABI-R13",
            "code " + CodeText(code) +
                (fail_.called ? " after fail with code " + CodeText(fail_.code) : " without fail"),
            "every code but OK goes through fail", "end with return call->fail(call, code, …)");
    return;
  }
  if (!IsReason(fail_.reason)) {
    Violate("ABI-R13", "reason \"" + fail_.reason + "\"", "[A-Z][A-Za-z0-9]{2,62}",
            "use a stable CamelCase word that the README lists");
  }
  if (fail_.message.size() > kMaxMessage || !IsUtf8(fail_.message) ||
      fail_.message.find('\n') != std::string::npos) {
    Violate("ABI-R13", "a message of " + std::to_string(fail_.message.size()) + " bytes",
            "one line of UTF-8, at most 1,024 bytes", "shorten the message, replace bad bytes");
  }
}

void CallFrame::JudgeResults() {
  using Results = SlotSpec::Results;
  const bool counts = result_.code == OTC_OK || spec_.results == Results::kMany;
  if (over_limit_) {
    Violate("ABI-R14", "records over the limit", "16 MiB a record, 64 MiB a call",
            "emit less, and stop when emit returns RESOURCE_EXHAUSTED");
  }
  if (bad_record_) {
    Violate("ABI-R14", "a PLAN, EVENT or PROGRESS record that does not parse",
            "PlanRecord, EventRecord, Progress", "serialize the message of that kind");
  }
  const bool optional = options_.dry_run && spec_.plans_first && result_.results.empty();
  if (spec_.results == Results::kOne && result_.code == OTC_OK && result_.results.size() != 1 &&
      !optional) {
    Violate("ABI-R14", "OK with " + std::to_string(result_.results.size()) + " RESULT records",
            "exactly one RESULT", "emit one RESULT before returning OTC_OK");
  }
  if (!counts || spec_.valid == nullptr) return;
  for (const std::string& record : result_.results) {
    if (spec_.valid(record)) continue;
    Violate("ABI-R14",
            "a RESULT of " + std::to_string(record.size()) + " bytes that does not parse",
            "the slot's response message", "serialize the response message of this slot");
    return;
  }
}

void CallFrame::JudgeReturn() {
  const std::int64_t told = cancel_seen_ms_;
  if (told >= 0 && RealMs() - told > 1000) {
    Violate("ABI-R16", "returned " + std::to_string(RealMs() - told) + " ms after cancelled",
            "a return within 1 s", "look at cancelled in every loop and before every request");
  }
}

CallResult CallFrame::Finish(std::int32_t code) {
  result_.code = code;
  JudgeCode(code);
  JudgeResults();
  JudgeReturn();
  if (code != OTC_OK) {
    const bool counts = fail_.called && fail_.code == code;
    result_.reason = counts ? fail_.reason : "Unspecified";
    result_.message = counts ? fail_.message : "";
    result_.retry_after_ms = counts ? fail_.retry_after_ms : 0;
  }
  return std::move(result_);
}

}  // namespace otc::harness
