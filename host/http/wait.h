// Wait: poll(2) on descriptors beside the call's cancellation and deadline. Every
// wait of the HTTP client is this one. Thread-safe (no state).
#ifndef OTC_HOST_HTTP_WAIT_H_
#define OTC_HOST_HTTP_WAIT_H_

#include <poll.h>

#include <vector>

#include "host/base/cancellation.h"

namespace otc::host::http {

// Waits until one of `fds` is ready or `wake_at` is reached (both OK; look at
// `revents`), or the call's deadline or cancellation ends it (its status).
// Readiness wins over a deadline that has passed meanwhile, not over a
// cancellation.
Status Wait(const CallContext& context, std::vector<pollfd>& fds, MonoTime wake_at);

// The same for one descriptor: the events that came, 0 at `wake_at`.
Result<short> WaitFd(const CallContext& context, int fd, short events,
                     MonoTime wake_at = MonoTime::max());

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_WAIT_H_
