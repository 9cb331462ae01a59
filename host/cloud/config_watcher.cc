#include "host/cloud/config_watcher.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "host/cloud/signer.h"

namespace otc::host::cloud {
namespace {

constexpr Duration kFirstPause = std::chrono::seconds(5);
constexpr Duration kLongestPause = std::chrono::minutes(1);
constexpr Duration kListenerTime = std::chrono::seconds(30);

std::optional<std::string> ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return std::nullopt;
  std::stringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (file.bad() || text.bad()) return std::nullopt;
  return text.str();
}

}  // namespace

ConfigWatcher::ConfigWatcher(Clock& clock, Log& log, std::string path, const std::string& in_force,
                             OnChange on_change)
    : clock_(clock),
      log_(log),
      path_(std::move(path)),
      on_change_(std::move(on_change)),
      stop_(Cancellation::Create()),
      reported_hash_(Sha256Hex(in_force)) {}

ConfigWatcher::~ConfigWatcher() { Stop(); }

void ConfigWatcher::Start() {
  thread_ = std::thread([this] {
    CallContext context;
    context.clock = &clock_;
    context.cancellation = stop_;
    while (context.SleepUntil(clock_.Now() + kInterval).ok()) Poll();
  });
}

void ConfigWatcher::Stop() {
  stop_->Cancel("Stopping");
  if (thread_.joinable()) thread_.join();
}

bool ConfigWatcher::Poll() {
  const std::optional<std::string> content = ReadAll(path_);
  if (!content) {
    if (!unreadable_) log_.Warn("cannot read a watched file", {{"path", path_}});
    unreadable_ = true;
    return false;
  }
  unreadable_ = false;
  const std::string hash = Sha256Hex(*content);
  if (hash == reported_hash_ && !(again_ && clock_.Now() >= again_at_)) return false;
  if (hash != reported_hash_) pause_ = kFirstPause;
  reported_hash_ = hash;

  CallContext context;
  context.clock = &clock_;
  context.cancellation = stop_;
  context.deadline = clock_.Now() + kListenerTime;
  const Status status = on_change_(*content, context);
  again_ = status.code() == Code::kUnavailable || status.code() == Code::kDeadlineExceeded;
  if (again_) {
    again_at_ = clock_.Now() + pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
  }
  return true;
}

}  // namespace otc::host::cloud
