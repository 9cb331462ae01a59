// PluginLog: otc.host.log/1 for one plugin: lines are cleaned, bounded and
// limited to 1,000 a second; what is above is dropped and counted.
//
// Thread-safe; never blocks for longer than the host's log does.
#ifndef OTC_HOST_PLUGIN_PLUGIN_LOG_H_
#define OTC_HOST_PLUGIN_PLUGIN_LOG_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/base/metrics.h"
#include "otc/plugin.h"

namespace otc::host::plugin_host {

class PluginLog {
 public:
  static constexpr int kLinesPerSecond = 1000;
  static constexpr std::uint64_t kMaxFields = 32;
  static constexpr std::size_t kMaxLineBytes = 16'384;

  PluginLog(Log& log, Clock& clock, Metrics& metrics, std::string plugin_id);

  bool Enabled(std::uint32_t level) const;
  // `request_id` and `subject` are the call's, empty without one.
  void Write(std::uint32_t level, otc_str message, const otc_kv* fields, std::uint64_t field_count,
             const std::string& request_id, const std::string& subject);

 private:
  bool Admit();  // counts what it refuses, and says so once a second

  Log& log_;
  Clock& clock_;
  const std::string plugin_id_;
  Counter& dropped_;
  std::mutex mutex_;  // guards all below
  MonoTime window_start_{};
  int lines_ = 0;
  std::uint64_t dropped_in_window_ = 0;
};

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_PLUGIN_LOG_H_
