// Structured logs: one line an entry, text or JSON, to one descriptor.
//
// A Log is handed to whoever writes; there is no global one. Fields are
// key=value; the message is fixed text without values. Registered secrets are
// replaced in every line as a last net: nobody should log them in the first
// place.
//
// Thread-safe, never throws, never blocks for longer than one write(2).
#ifndef OTC_HOST_BASE_LOG_H_
#define OTC_HOST_BASE_LOG_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/clock.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host {

enum class LogLevel : std::uint32_t { kError = 1, kWarn = 2, kInfo = 3, kDebug = 4 };

struct LogField {
  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, bool v) : key(k), value(v ? "true" : "false") {}
  LogField(std::string_view k, int v) : key(k), value(std::to_string(v)) {}
  LogField(std::string_view k, std::int64_t v) : key(k), value(std::to_string(v)) {}
  LogField(std::string_view k, std::uint64_t v) : key(k), value(std::to_string(v)) {}
  LogField(std::string_view k, std::uint32_t v) : key(k), value(std::to_string(v)) {}
  // code, reason and message of a failed call, as one value.
  LogField(std::string_view k, const Status& v) : key(k), value(v.ToString()) {}

  std::string key;
  std::string value;
};

class Log {
 public:
  virtual ~Log() = default;
  virtual bool Enabled(LogLevel level) const = 0;
  virtual void Write(LogLevel level, std::string_view message,
                     const std::vector<LogField>& fields) = 0;

  void Error(std::string_view message, const std::vector<LogField>& fields = {}) {
    Write(LogLevel::kError, message, fields);
  }
  void Warn(std::string_view message, const std::vector<LogField>& fields = {}) {
    Write(LogLevel::kWarn, message, fields);
  }
  void Info(std::string_view message, const std::vector<LogField>& fields = {}) {
    Write(LogLevel::kInfo, message, fields);
  }
  void Debug(std::string_view message, const std::vector<LogField>& fields = {}) {
    if (Enabled(LogLevel::kDebug)) Write(LogLevel::kDebug, message, fields);
  }
};

// Values that must never be printed. Thread-safe.
class SecretRedactor {
 public:
  // Values shorter than 6 bytes are ignored: they would blacken ordinary text.
  void Add(std::string secret);
  // `text` with every secret replaced by "[redacted]".
  std::string Redact(std::string text) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> secrets_;
};

enum class LogFormat { kText, kJson };

// Writes lines to a descriptor that it does not own.
class StreamLog final : public Log {
 public:
  StreamLog(int fd, LogFormat format, LogLevel level, Clock& clock,
            std::shared_ptr<SecretRedactor> redactor)
      : fd_(fd), format_(format), level_(level), clock_(clock), redactor_(std::move(redactor)) {}

  bool Enabled(LogLevel level) const override { return level <= level_; }
  void Write(LogLevel level, std::string_view message,
             const std::vector<LogField>& fields) override;

 private:
  const int fd_;
  const LogFormat format_;
  const LogLevel level_;
  Clock& clock_;
  std::shared_ptr<SecretRedactor> redactor_;
};

// Keeps lines in memory ("ERROR message key=value"), for tests.
class MemoryLog final : public Log {
 public:
  bool Enabled(LogLevel) const override { return true; }
  void Write(LogLevel level, std::string_view message,
             const std::vector<LogField>& fields) override;
  std::vector<std::string> Lines() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace otc::host

#endif  // OTC_HOST_BASE_LOG_H_
