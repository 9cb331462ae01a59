#include "host/base/log.h"

#include <unistd.h>

#include <algorithm>

#include "host/base/strings.h"

namespace otc::host {
namespace {

const char* LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "ERROR";
    case LogLevel::kWarn:
      return "WARN";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kDebug:
      return "DEBUG";
  }
  return "UNKNOWN";
}

bool NeedsQuotes(std::string_view value) {
  return value.empty() || std::any_of(value.begin(), value.end(), [](unsigned char c) {
           return c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f;
         });
}

std::string TextLine(LogLevel level, std::string_view message,
                     const std::vector<LogField>& fields) {
  std::string line = std::string(LevelName(level)) + " " + std::string(message);
  for (const LogField& field : fields) {
    line += " " + field.key + "=";
    line += NeedsQuotes(field.value) ? JsonQuote(field.value) : field.value;
  }
  return line;
}

}  // namespace

void SecretRedactor::Add(std::string secret) {
  if (secret.size() < 6) return;
  std::lock_guard lock(mutex_);
  if (std::find(secrets_.begin(), secrets_.end(), secret) == secrets_.end()) {
    secrets_.push_back(std::move(secret));
  }
}

std::string SecretRedactor::Redact(std::string text) const {
  std::lock_guard lock(mutex_);
  for (const std::string& secret : secrets_) {
    for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
      text.replace(at, secret.size(), "[redacted]");
    }
  }
  return text;
}

void StreamLog::Write(LogLevel level, std::string_view message,
                      const std::vector<LogField>& fields) {
  if (!Enabled(level)) return;
  const std::string stamp = FormatMicroTime(clock_.Wall());
  std::string line;
  if (format_ == LogFormat::kJson) {
    line = "{\"ts\":" + JsonQuote(stamp) + ",\"level\":" + JsonQuote(LevelName(level)) +
           ",\"msg\":" + JsonQuote(message);
    for (const LogField& field : fields) {
      line += "," + JsonQuote(field.key) + ":" + JsonQuote(field.value);
    }
    line += "}\n";
  } else {
    line = stamp + " " + TextLine(level, message, fields) + "\n";
  }
  if (redactor_) line = redactor_->Redact(std::move(line));
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t n = write(fd_, rest.data(), rest.size());
    if (n <= 0) return;  // a log that cannot be written must not stop the work
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

void MemoryLog::Write(LogLevel level, std::string_view message,
                      const std::vector<LogField>& fields) {
  std::string line = TextLine(level, message, fields);
  std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
}

std::vector<std::string> MemoryLog::Lines() const {
  std::lock_guard lock(mutex_);
  return lines_;
}

}  // namespace otc::host
