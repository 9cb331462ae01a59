#include "host/plugin/code_mapping.h"

#include <algorithm>

namespace otc::host::plugin_host {

Duration ClampRetryDelay(std::uint64_t retry_after_ms) {
  constexpr std::uint64_t kDefaultMs = 5'000, kLeastMs = 1'000, kMostMs = 300'000;
  const std::uint64_t ms =
      retry_after_ms == 0 ? kDefaultMs : std::clamp(retry_after_ms, kLeastMs, kMostMs);
  return std::chrono::milliseconds(ms);
}

ControllerVerdict ForControllers(InterfaceKind kind, const Status& status) {
  switch (status.code()) {
    case Code::kOk:
      return {NextStep::kDone, {}};
    case Code::kPending:
      return {NextStep::kAgainAfter, ClampRetryDelay(status.retry_after_ms())};
    case Code::kUnimplemented:
      return {kind == InterfaceKind::kLoadBalancer ? NextStep::kDoneElsewhere : NextStep::kLogOnce,
              {}};
    default:
      break;
  }
  const bool asked = status.retry_after_ms() > 0;
  return {NextStep::kBackOff, asked ? ClampRetryDelay(status.retry_after_ms()) : Duration::zero()};
}

Status ForGrpc(InterfaceKind kind, const Status& status) {
  if (status.ok() || status.code() == Code::kPending) return status;
  const bool csi = kind == InterfaceKind::kCsiController || kind == InterfaceKind::kCsiNode;
  // Sidecars and kubelet read UNKNOWN as final and would leak a half-made volume.
  const Code code = csi && status.code() == Code::kUnknown ? Code::kUnavailable : status.code();
  const std::string message = status.message().empty() ? status.reason() : status.message();
  return Status(code, status.reason(), message.empty() ? CodeName(code) : message,
                status.retry_after_ms());
}

}  // namespace otc::host::plugin_host
