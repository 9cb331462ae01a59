#include "host/cli/cloud_check.h"

#include <algorithm>

namespace otc::host::cli {
namespace {

constexpr Duration kTimeout = std::chrono::seconds(10);
constexpr Duration kFirstPause = std::chrono::seconds(5);
constexpr Duration kLongestPause = std::chrono::minutes(5);

bool MayPass(const Status& status) {
  return status.code() == Code::kUnavailable || status.code() == Code::kDeadlineExceeded ||
         status.code() == Code::kResourceExhausted;
}

}  // namespace

CloudCheck::CloudCheck(Probe probe, Clock& clock, Log& log)
    : probe_(std::move(probe)),
      clock_(clock),
      log_(log),
      last_(Code::kUnavailable, "CloudNotChecked", "the cloud has not answered yet") {}

CloudCheck::~CloudCheck() { Stop(); }

void CloudCheck::Start() {
  thread_ = std::thread([this] { Run(); });
}

void CloudCheck::Stop() {
  stop_->Cancel("Quiescing");
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void CloudCheck::Again() {
  std::lock_guard lock(mutex_);
  due_ = true;
  changed_.notify_all();
}

Status CloudCheck::Ready() const {
  std::lock_guard lock(mutex_);
  return last_;
}

void CloudCheck::Run() {
  Duration pause = kFirstPause;
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
      due_ = false;
    }
    CallContext context;
    context.clock = &clock_;
    context.deadline = clock_.Now() + kTimeout;
    context.cancellation = stop_;
    const Status status = probe_(context);

    std::unique_lock lock(mutex_);
    if (stopping_) return;
    last_ = status;
    if (status.ok()) {
      log_.Info("the cloud accepts key and project");
    } else {
      log_.Error("the cloud refuses this process or cannot be reached", {{"error", status}});
    }
    const MonoTime until = MayPass(status) ? clock_.Now() + pause : MonoTime::max();
    pause = status.ok() ? kFirstPause : std::min(pause * 2, kLongestPause);
    while (!stopping_ && !due_ && clock_.Now() < until) {
      clock_.WaitUntil(changed_, lock, until);
    }
  }
}

}  // namespace otc::host::cli
