#include "host/plugin/plugin_log.h"

#include <algorithm>
#include <set>

#include "host/base/strings.h"
#include "host/plugin/interfaces.h"

namespace otc::host::plugin_host {
namespace {

constexpr std::size_t kMaxKeyBytes = 64;

LogLevel ToLevel(std::uint32_t level) {
  switch (level) {
    case OTC_LOG_ERROR:
      return LogLevel::kError;
    case OTC_LOG_WARN:
      return LogLevel::kWarn;
    case OTC_LOG_INFO:
      return LogLevel::kInfo;
    default:
      return LogLevel::kDebug;
  }
}

// One line of valid UTF-8 with at most `room` bytes.
std::string Clean(std::string_view text, std::size_t room) {
  std::string line = ReplaceInvalidUtf8(text.substr(0, room));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line;
}

std::string CleanKey(std::string_view key) {
  std::string out(key.substr(0, kMaxKeyBytes));
  std::replace_if(
      out.begin(), out.end(),
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '_' || c == '-' || c == '.');
      },
      '_');
  return out.empty() ? "field" : out;
}

}  // namespace

PluginLog::PluginLog(Log& log, Clock& clock, Metrics& metrics, std::string plugin_id)
    : log_(log),
      clock_(clock),
      plugin_id_(std::move(plugin_id)),
      dropped_(metrics.GetCounter("otc_plugin_log_lines_dropped_total",
                                  "Log lines of a plugin above 1,000 a second.",
                                  {{"plugin", plugin_id_}})) {}

bool PluginLog::Enabled(std::uint32_t level) const { return log_.Enabled(ToLevel(level)); }

bool PluginLog::Admit() {
  std::uint64_t to_report = 0;
  bool admitted = false;
  {
    const std::lock_guard lock(mutex_);
    const MonoTime now = clock_.Now();
    if (now - window_start_ >= std::chrono::seconds(1)) {
      window_start_ = now;
      lines_ = 0;
      to_report = std::exchange(dropped_in_window_, 0);
    }
    admitted = lines_ < kLinesPerSecond;
    if (admitted) {
      ++lines_;
    } else {
      ++dropped_in_window_;
    }
  }
  if (to_report > 0) {
    log_.Warn("log lines of a plugin were dropped", {{"plugin", plugin_id_}, {"lines", to_report}});
  }
  if (!admitted) dropped_.Add();
  return admitted;
}

void PluginLog::Write(std::uint32_t level, otc_str message, const otc_kv* fields,
                      std::uint64_t field_count, const std::string& request_id,
                      const std::string& subject) {
  if (!Enabled(level) || !Admit()) return;
  std::size_t room = kMaxLineBytes;
  const auto take = [&room](std::string text) {
    room -= std::min(room, text.size());
    return text;
  };
  std::vector<LogField> out;
  out.emplace_back("plugin", plugin_id_);
  if (!request_id.empty()) out.emplace_back("request_id", request_id);
  if (!subject.empty()) out.emplace_back("subject", subject);
  // A plugin can't speak as the host, nor write a key twice.
  std::set<std::string> keys = {"plugin", "request_id", "subject", "ts", "level", "msg"};
  const std::string text = take(Clean(ToView(message), room));
  const std::uint64_t count = fields == nullptr ? 0 : std::min(field_count, kMaxFields);
  for (std::uint64_t i = 0; i < count && room > 0; ++i) {
    std::string key = take(CleanKey(ToView(fields[i].key)));
    while (!keys.insert(key).second) key += "_";
    out.emplace_back(key, take(Clean(ToView(fields[i].value), room)));
  }
  if (count < field_count) {
    out.emplace_back("fields_dropped", static_cast<std::uint64_t>(field_count - count));
  }
  log_.Write(ToLevel(level), text, out);
}

}  // namespace otc::host::plugin_host
