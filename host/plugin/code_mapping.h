// What the host does with the status that a slot ended with
// (docs/reference/plugin-abi.md §5, table). Pure functions; any thread.
#ifndef OTC_HOST_PLUGIN_CODE_MAPPING_H_
#define OTC_HOST_PLUGIN_CODE_MAPPING_H_

#include <cstdint>

#include "host/base/clock.h"
#include "host/plugin/interfaces.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::plugin_host {

// 1 s to 5 min; 0 means 5 s.
Duration ClampRetryDelay(std::uint64_t retry_after_ms);

enum class NextStep {
  kDone,
  kDoneElsewhere,  // ends well without status or event
  kLogOnce,        // the plugin can't do this; nothing to wait for
  kAgainAfter,     // PENDING: no error event, no back-off, `delay` from now
  kBackOff,        // the controller's back-off; `delay` > 0 replaces one delay
};

struct ControllerVerdict {
  NextStep step = NextStep::kDone;
  Duration delay{0};
};

ControllerVerdict ForControllers(InterfaceKind kind, const Status& status);

// What is sent to a gRPC client. PENDING stays PENDING: the call is parked and
// made again until the client's deadline.
Status ForGrpc(InterfaceKind kind, const Status& status);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_CODE_MAPPING_H_
