// One call from the host: deadline, cancellation, and the way results go back.
//
// A Call is a view: valid from the start until the return of the slot that was
// given it, on any thread, never longer. Nothing here throws.
#ifndef OTC_CPP_CALL_H_
#define OTC_CPP_CALL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "otc/cpp/payload_text.h"
#include "otc/cpp/status.h"
#include "otc/cpp/text.h"
#include "otc/plugin.h"

namespace otc {

// Reasons that this layer itself gives (the host owns them).
inline constexpr char kReasonException[] = "PluginException";
inline constexpr char kReasonBadRequest[] = "BadRequest";
inline constexpr char kReasonCancelled[] = "Cancelled";
inline constexpr char kReasonDeadline[] = "DeadlineExceeded";
inline constexpr char kReasonUnspecified[] = "Unspecified";

// [A-Z][A-Za-z0-9]{2,62}
inline bool IsReason(std::string_view reason) {
  if (reason.size() < 3 || reason.size() > 63 || reason[0] < 'A' || reason[0] > 'Z') return false;
  for (const char c : reason) {
    const bool fine = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!fine) return false;
  }
  return true;
}

class Call {
 public:
  explicit Call(const otc_call* raw) : raw_(raw) {}

  const otc_call* raw() const { return raw_; }
  std::uint64_t id() const { return raw_->call_id; }
  std::uint64_t deadline_ns() const { return raw_->deadline_ns; }  // clock of otc.host.time/1
  std::uint32_t attempt() const { return raw_->attempt; }
  std::string_view request_id() const { return View(raw_->request_id); }
  std::string_view traceparent() const { return View(raw_->traceparent); }
  // Decide, emit PLAN records, write nothing.
  bool dry_run() const { return (raw_->flags & OTC_CALL_DRY_RUN) != 0; }

  // OK while somebody waits for the result; else CANCELLED or DEADLINE_EXCEEDED,
  // and the slot should return within a second.
  Status Cancelled() const {
    const std::int32_t code = raw_->cancelled(raw_);
    if (code == OTC_OK) return Status::Ok();
    if (code == OTC_DEADLINE_EXCEEDED) {
      return Status(Code::kDeadlineExceeded, kReasonDeadline, "the deadline of the call passed");
    }
    return Status(Code::kCancelled, kReasonCancelled, "the call was cancelled");
  }

  // Sends one response message. Bad UTF-8 in its strings is replaced. CANCELLED:
  // nobody listens any more. RESOURCE_EXHAUSTED: over a limit, the call failed.
  template <typename Message>
  Status EmitResult(const Message& message) const {
    return Emit(OTC_EMIT_RESULT, message);
  }
  // One intended step, before anything is done.
  Status EmitPlan(const plugin::v1::PlanRecord& plan) const { return Emit(OTC_EMIT_PLAN, plan); }
  // A Kubernetes event on the subject of the call.
  Status EmitEvent(const plugin::v1::EventRecord& event) const {
    return Emit(OTC_EMIT_EVENT, event);
  }
  // What is being waited for; replaces the previous one.
  Status EmitProgress(const plugin::v1::Progress& progress) const {
    return Emit(OTC_EMIT_PROGRESS, progress);
  }
  // A record that is bytes already (gRPC pass-through).
  Status EmitBytes(std::uint32_t kind, std::string_view record) const {
    const std::int32_t code = raw_->emit(raw_, kind, Bytes(record));
    if (code == OTC_OK) return Status::Ok();
    if (code == OTC_RESOURCE_EXHAUSTED) {
      return Status(Code::kResourceExhausted, "RecordTooLarge",
                    "a record or all records of the call are over the size limit");
    }
    return Status(Code::kCancelled, kReasonCancelled, "nobody listens to the call any more");
  }

  // Ends a slot: reports a failed status to the host and gives the code to return.
  std::int32_t Finish(const Status& status) const {
    if (status.ok()) return OTC_OK;
    const auto code = static_cast<std::int32_t>(status.code());
    ShortLine message("");
    if (!IsReason(status.reason()) && !status.reason().empty()) {
      message.Append(status.reason());
      message.Append(": ");
    }
    message.Append(status.message());
    return Fail(IsDefinedCode(code) ? code : OTC_UNKNOWN, status.reason(), message.view(),
                status.retry_after_ms());
  }

  // Needs no memory. `message` is one line within the limits (see ShortLine).
  std::int32_t Fail(std::int32_t code, std::string_view reason, std::string_view message,
                    std::uint64_t retry_after_ms) const {
    const std::string_view word = IsReason(reason) ? reason : kReasonUnspecified;
    raw_->fail(raw_, code, Str(word), Str(message), retry_after_ms);
    return code;
  }

 private:
  template <typename Message>
  Status Emit(std::uint32_t kind, const Message& message) const {
    std::string bytes;
    bool serialized;
    if (ValidText(message)) {
      serialized = message.SerializeToString(&bytes);
    } else {
      Message repaired = message;
      RepairText(&repaired);
      serialized = repaired.SerializeToString(&bytes);
    }
    if (!serialized) {
      return Status(Code::kUnknown, "BadResult", "a record could not be serialized");
    }
    return EmitBytes(kind, bytes);
  }

  const otc_call* raw_;
};

// The results of a slot that gives many of one kind, as they become known.
template <typename Message>
class Emitter {
 public:
  explicit Emitter(const Call& call) : call_(call) {}

  const Call& call() const { return call_; }
  Status Emit(const Message& message) { return call_.EmitResult(message); }

 private:
  const Call& call_;
};

}  // namespace otc

#endif  // OTC_CPP_CALL_H_
