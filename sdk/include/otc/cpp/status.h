// Status and Result<T>: how every part of otc-host and its plugins reports
// failure. One code set everywhere: gRPC's codes plus PENDING, the numbers of
// otc/plugin.h. Values, never exceptions; copying is cheap enough for error
// paths, and the OK status allocates nothing.
//
// A Status carries what an operator needs: the code (what kind), the reason (a
// stable CamelCase word that becomes metric label, log field and first word of
// an event), the message (one line for a human) and an optional delay after
// which trying again makes sense.
#ifndef OTC_CPP_STATUS_H_
#define OTC_CPP_STATUS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace otc {

enum class Code : std::int32_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
  kPending = 100,
};

// The upper-case name of a code, for logs and messages; "UNDEFINED" for numbers
// outside the set.
inline const char* CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kCancelled:
      return "CANCELLED";
    case Code::kUnknown:
      return "UNKNOWN";
    case Code::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case Code::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case Code::kNotFound:
      return "NOT_FOUND";
    case Code::kAlreadyExists:
      return "ALREADY_EXISTS";
    case Code::kPermissionDenied:
      return "PERMISSION_DENIED";
    case Code::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case Code::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case Code::kAborted:
      return "ABORTED";
    case Code::kOutOfRange:
      return "OUT_OF_RANGE";
    case Code::kUnimplemented:
      return "UNIMPLEMENTED";
    case Code::kInternal:
      return "INTERNAL";
    case Code::kUnavailable:
      return "UNAVAILABLE";
    case Code::kDataLoss:
      return "DATA_LOSS";
    case Code::kUnauthenticated:
      return "UNAUTHENTICATED";
    case Code::kPending:
      return "PENDING";
  }
  return "UNDEFINED";
}

inline bool IsDefinedCode(std::int32_t code) { return (code >= 0 && code <= 16) || code == 100; }

class [[nodiscard]] Status {
 public:
  Status() = default;  // OK
  Status(Code code, std::string reason, std::string message, std::uint64_t retry_after_ms = 0)
      : code_(code),
        retry_after_ms_(retry_after_ms),
        reason_(std::move(reason)),
        message_(std::move(message)) {}

  static Status Ok() { return Status(); }

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& reason() const { return reason_; }
  const std::string& message() const { return message_; }
  std::uint64_t retry_after_ms() const { return retry_after_ms_; }

  // "UNAVAILABLE CloudUnreachable: connect to …", for logs and tests.
  std::string ToString() const {
    if (ok()) return "OK";
    std::string text = CodeName(code_);
    if (!reason_.empty()) text += " " + reason_;
    if (!message_.empty()) text += ": " + message_;
    return text;
  }

  // The same status with `prefix` put before the message ("list nodes: …").
  Status WithPrefix(const std::string& prefix) const {
    return ok() ? *this : Status(code_, reason_, prefix + message_, retry_after_ms_);
  }

 private:
  Code code_ = Code::kOk;
  std::uint64_t retry_after_ms_ = 0;
  std::string reason_;
  std::string message_;
};

// Either a value or a failed Status. `value()` on a failure and constructing
// one from an OK status are programming errors; the latter becomes UNKNOWN.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {  // NOLINT: implicit on purpose
    if (status_.ok()) status_ = Status(Code::kUnknown, "NoResult", "OK status without a value");
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  const T& value() const& { return *value_; }
  T& value() & { return *value_; }
  T&& value() && { return std::move(*value_); }
  const T& operator*() const& { return *value_; }
  T& operator*() & { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  const T* operator->() const { return &*value_; }
  T* operator->() { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace otc

// Returns the status of `expr` from the enclosing function unless it is OK.
#define OTC_RETURN_IF_ERROR(expr)              \
  do {                                         \
    ::otc::Status otc_status_ = (expr);        \
    if (!otc_status_.ok()) return otc_status_; \
  } while (false)

#endif  // OTC_CPP_STATUS_H_
