// Call: one call of a plugin's slot: the otc_call that the plugin sees, and what
// the host makes of what came back (docs/reference/plugin-abi.md §5, §6).
//
// Made by the caller, shared with the worker: if the slot never returns, the
// worker keeps it alive. The plugin's half (Cancelled, Emit, Fail) may be used
// from any thread until the slot returns; the caller's half by the one thread
// that waits. Records travel through a queue bounded by the ABI's limits.
#ifndef OTC_HOST_PLUGIN_CALL_H_
#define OTC_HOST_PLUGIN_CALL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/base/cancellation.h"
#include "otc/plugin.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::plugin_host {

class ServiceHub;

inline constexpr std::uint64_t kMaxRecordBytes = 16u << 20;
inline constexpr std::uint64_t kMaxCallBytes = 64u << 20;
inline constexpr std::chrono::seconds kOverrunGrace{10};

// Host-owned reasons.
inline constexpr char kNoResult[] = "NoResult";
inline constexpr char kBadResult[] = "BadResult";
inline constexpr char kBadCode[] = "BadCode";
inline constexpr char kPluginException[] = "PluginException";
inline constexpr char kCallOverrun[] = "CallOverrun";
inline constexpr char kDryRunWrite[] = "DryRunWrite";
inline constexpr char kNotConfigured[] = "NotConfigured";
inline constexpr char kQuiescing[] = "Quiescing";
inline constexpr char kUnspecified[] = "Unspecified";

struct CallOptions {
  enum class Results {
    kIgnored,     // start, reconfigure, quiesce
    kExactlyOne,  // unary: kept until the slot returned OK
    kStreamed,    // describe: each counts at once, whatever the slot returns
  };
  std::string slot;        // "describe"
  std::string request_id;  // empty: one is made
  std::string subject;     // what it is about, for the plugin's log lines
  std::uint32_t attempt = 1;
  Results results = Results::kIgnored;
  bool dry_run = false;
  bool cloud_allowed = true;   // false: create
  bool writes_allowed = true;  // false: create, start, get, describe
  bool leader_only = false;    // writes pass the WriteGate
};

struct CallOutcome {
  Status status;
  std::string result;  // kExactlyOne and OK
  // A breach of the ABI: a host-owned reason, empty if there was none.
  std::string plugin_bug;
};

class Call {
 public:
  // `context` carries deadline, cancellation and trace of the caller; the call
  // has a cancellation of its own below it.
  Call(CallOptions options, const CallContext& context, ServiceHub* hub);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The plugin's half.
  const otc_call* abi() const { return &handle_.abi; }
  static Call* From(const otc_call* call);
  // 0, CANCELLED or DEADLINE_EXCEEDED; lock-free, never goes back.
  std::int32_t Cancelled() const;

  // For host services.
  const CallOptions& options() const { return options_; }
  const CallContext& context() const { return context_; }
  ServiceHub* hub() const { return hub_; }
  void NoteBug(const std::string& reason);  // the last one counts

  // The worker's half: the slot returned `code`.
  void Returned(std::int32_t code);

  // The caller's half. Hands records to `on_record` as they come, on this
  // thread, until the slot returned (true), or `limit` has passed or GiveUp was
  // called (false).
  using OnRecord = std::function<void(std::uint32_t kind, const std::string& record)>;
  bool Await(MonoTime limit, const OnRecord& on_record);
  void Cancel(const std::string& reason, const std::string& message);
  // Nobody waits for this call any more: its instance was abandoned.
  void GiveUp();
  bool given_up() const;
  // After Await said true: status and result by the rules of §5.
  CallOutcome Outcome();
  // After Await said false.
  CallOutcome OverrunOutcome() const;
  // RESULT records that could not be parsed are reported back by the caller.
  void NoteBadResult() { NoteBug(kBadResult); }

 private:
  struct Handle {
    otc_call abi{};
    Call* self = nullptr;
  };
  struct Failure {
    std::int32_t code = 0;
    std::string reason;
    std::string message;
    std::uint64_t retry_after_ms = 0;
  };

  std::int32_t Emit(std::uint32_t kind, otc_bytes record);
  std::int32_t Fail(std::int32_t code, otc_str reason, otc_str message, std::uint64_t retry_ms);
  Status ReturnedStatus() const;  // mutex_ held

  const CallOptions options_;
  CallContext context_;
  ServiceHub* const hub_;
  std::string request_id_;
  Handle handle_;
  mutable std::atomic<std::int32_t> ended_{0};  // what Cancelled said first

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<std::pair<std::uint32_t, std::string>> queue_;
  std::vector<std::string> results_;  // kExactlyOne
  std::uint64_t bytes_ = 0;
  bool over_limit_ = false;
  bool abandoned_ = false;  // nobody waits any more
  bool given_up_ = false;
  bool returned_ = false;
  std::int32_t code_ = 0;
  Failure failure_;
  bool failed_ = false;  // Fail was called
  std::string bug_;
};

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_CALL_H_
