#include "host/cli/reloader.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

namespace otc::host::cli {
namespace {

constexpr Duration kApplyTimeout = std::chrono::seconds(10);
constexpr char kMetric[] = "otc_host_config_reload_total";
constexpr char kHelp[] = "Reloads of host.yaml and cloud.conf by result.";

std::string Content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

Reloader::Reloader(const HostFlags& flags, Settings current, Clock& clock, Log& log,
                   Metrics& metrics, std::shared_ptr<SecretRedactor> redactor, Apply apply)
    : flags_(flags),
      current_(std::move(current)),
      clock_(clock),
      log_(log),
      applied_(metrics.GetCounter(kMetric, kHelp, {{"result", "applied"}})),
      refused_(metrics.GetCounter(kMetric, kHelp, {{"result", "refused"}})),
      redactor_(std::move(redactor)),
      apply_(std::move(apply)),
      next_look_(clock.Now() + cloud::ConfigWatcher::kInterval) {
  Watch(flags.config);
  if (current_.cloud) Watch(flags.cloud_config);
}

void Reloader::Watch(const std::string& path) {
  if (path.empty()) return;
  watchers_.push_back(std::make_unique<cloud::ConfigWatcher>(
      clock_, log_, path, Content(path),
      [this](const std::string&, const CallContext&) { return Reload(); }));
}

void Reloader::Look(bool asked) {
  if (asked) {
    const Status status = Reload();
    if (!status.ok()) return;  // logged; the watchers try again if that helps
  }
  if (clock_.Now() < next_look_) return;
  next_look_ = clock_.Now() + cloud::ConfigWatcher::kInterval;
  for (const auto& watcher : watchers_) watcher->Poll();
}

Status Reloader::Reload() {
  auto fresh = LoadSettings(flags_);
  Status status = fresh.status();
  if (fresh.ok()) {
    if (fresh->cloud == current_.cloud && fresh->host == current_.host) return Status::Ok();
    if (fresh->cloud) fresh->cloud->RegisterSecrets(*redactor_);
    CallContext context;
    context.clock = &clock_;
    context.deadline = clock_.Now() + kApplyTimeout;
    status = apply_(*fresh, context);
  }
  if (!status.ok()) {
    refused_.Add();
    log_.Error("changed configuration refused, the old one stays in force", {{"error", status}});
    return status;
  }
  current_ = std::move(fresh).value();
  applied_.Add();
  log_.Info("changed configuration applied");
  return Status::Ok();
}

void ArmExitTimer(std::chrono::milliseconds timeout, int code) {
  std::thread([timeout, code] {
    // Both signals are blocked in every thread; here they are waited for.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    const timespec limit{timeout.count() / 1000, (timeout.count() % 1000) * 1'000'000};
    sigtimedwait(&signals, nullptr, &limit);
    _exit(code);
  }).detach();
}

}  // namespace otc::host::cli
