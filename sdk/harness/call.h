// One call of a slot: what goes in, what came out, and which rules were broken
// on the way.
#ifndef OTC_SDK_HARNESS_CALL_H_
#define OTC_SDK_HARNESS_CALL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "otc/cpp/status.h"
#include "otc/plugin.h"
#include "otc/plugin/v1/common.pb.h"
#include "sdk/harness/guarded.h"
#include "sdk/inspect/manifest.h"
#include "sdk/inspect/rules.h"

namespace otc::harness {

namespace pb = otc::plugin::v1;
using inspect::Violation;

class FakeHost;

// Shared by a test and a running call; thread-safe. Once set, it stays.
class CancelToken {
 public:
  void Cancel(std::int32_t code = OTC_CANCELLED) {
    std::int32_t none = OTC_OK;
    code_.compare_exchange_strong(none, code);
  }
  std::int32_t code() const { return code_.load(); }

 private:
  std::atomic<std::int32_t> code_{OTC_OK};
};

struct CallOptions {
  std::uint64_t timeout_ms = 60'000;  // on the fake clock
  bool dry_run = false;
  std::uint32_t attempt = 1;
  std::string request_id = "harness-request";
  std::shared_ptr<CancelToken> cancel;  // may be null
};

struct CallResult {
  std::int32_t code = OTC_UNKNOWN;
  std::string reason;  // empty for OK; "Unspecified" without a fail that counts
  std::string message;
  std::uint64_t retry_after_ms = 0;
  std::vector<std::string> results;  // records as they came
  std::vector<pb::PlanRecord> plans;
  std::vector<pb::EventRecord> events;
  std::vector<pb::Progress> progress;
  std::vector<Violation> violations;  // of this call; the FakeHost collects them too

  bool ok() const { return code == OTC_OK; }
  Status status() const {
    if (ok()) return Status::Ok();
    const Code known = IsDefinedCode(code) ? static_cast<Code>(code) : Code::kUnknown;
    return Status(known, reason, message, retry_after_ms);
  }
  // All results as messages; those that do not parse are left out (and are an
  // ABI-R14 violation already).
  template <typename Message>
  std::vector<Message> All() const {
    std::vector<Message> out;
    for (const std::string& record : results) {
      Message message;
      if (message.ParseFromString(record)) out.push_back(std::move(message));
    }
    return out;
  }
  // The only result; the status of the call, or `NoResult`, if there is none.
  template <typename Message>
  otc::Result<Message> Only() const {
    if (!ok()) return status();
    std::vector<Message> all = All<Message>();
    if (all.size() == 1) return std::move(all[0]);
    return Status(Code::kUnknown, "NoResult", std::to_string(all.size()) + " results");
  }
};

// What the rules say about a slot.
struct SlotSpec {
  const char* name;
  enum class Results { kNone, kOne, kMany } results = Results::kNone;
  bool read_only = false;    // ABI-R25
  bool plans_first = false;  // ABI-R26
  // Whether a record is a valid response message; null: any bytes are.
  bool (*valid)(const std::string& record) = nullptr;
};

// The host's side of one running call. Made on the stack of whoever calls the
// slot; raw() is what the plugin gets, valid until Finish.
class CallFrame {
 public:
  CallFrame(FakeHost& host, const inspect::Manifest& manifest, const SlotSpec& spec,
            const CallOptions& options);
  ~CallFrame();
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;

  const otc_call* raw() const;
  // Judges the call by the code that the slot returned. Afterwards the plugin must
  // not touch the call any more.
  CallResult Finish(std::int32_t code);

  // For the services: the frame of a call that the plugin hands back.
  static CallFrame& Of(const otc_call* call);
  FakeHost& host() { return host_; }
  const inspect::Manifest& manifest() const { return manifest_; }
  bool dry_run() const { return options_.dry_run; }
  std::int32_t Cancelled();
  void Violate(std::string rule, std::string found, std::string wanted, std::string advice);
  // Counts a WRITE and judges it (ABI-R25, R26).
  void NoteWrite(const std::string& what);

 private:
  static std::int32_t CancelledSlot(const otc_call* call);
  static std::int32_t EmitSlot(const otc_call* call, std::uint32_t kind, otc_bytes record);
  static std::int32_t FailSlot(const otc_call* call, std::int32_t code, otc_str reason,
                               otc_str message, std::uint64_t retry_after_ms);
  std::int32_t Emit(std::uint32_t kind, otc_bytes record);
  void Fail(std::int32_t code, otc_str reason, otc_str message, std::uint64_t retry_after_ms);
  void JudgeCode(std::int32_t code);
  void JudgeResults();
  void JudgeReturn();

  struct LastFail {
    bool called = false;
    std::int32_t code = OTC_OK;
    std::string reason;
    std::string message;
    std::uint64_t retry_after_ms = 0;
  };

  FakeHost& host_;
  const inspect::Manifest& manifest_;
  const SlotSpec spec_;
  const CallOptions options_;
  const Guarded request_id_;
  const Guarded traceparent_;
  Guarded memory_;  // a pointer to this frame, then the otc_call
  std::uint64_t deadline_ns_ = 0;

  std::mutex mutex_;
  CallResult result_;
  LastFail fail_;
  std::uint64_t emitted_bytes_ = 0;
  bool over_limit_ = false;
  bool bad_record_ = false;
  std::int64_t cancel_seen_ms_ = -1;  // real time at which the plugin was told
  int writes_ = 0;
};

}  // namespace otc::harness

#endif  // OTC_SDK_HARNESS_CALL_H_
