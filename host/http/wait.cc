#include "host/http/wait.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace otc::host::http {

Status Wait(const CallContext& context, std::vector<pollfd>& fds, MonoTime wake_at) {
  const std::size_t count = fds.size();
  if (context.cancellation) fds.push_back({context.cancellation->fd(), POLLIN, 0});
  Status result;
  while (true) {
    if (Status status = context.Check(); !status.ok()) {
      result = std::move(status);
      break;
    }
    const MonoTime until = std::min(context.deadline, wake_at);
    const int ready = ::poll(fds.data(), fds.size(), context.clock->PollMillis(until));
    if (ready < 0 && errno != EINTR) {
      result = Status(Code::kInternal, "PollFailed", std::generic_category().message(errno));
      break;
    }
    const bool cancelled = fds.size() > count && fds.back().revents != 0;
    if (ready > 0 && !cancelled) break;
    if (ready <= 0 && context.clock->Now() >= wake_at) break;
  }
  fds.resize(count);
  return result;
}

Result<short> WaitFd(const CallContext& context, int fd, short events, MonoTime wake_at) {
  std::vector<pollfd> fds{{fd, events, 0}};
  if (Status status = Wait(context, fds, wake_at); !status.ok()) return status;
  return fds[0].revents;
}

}  // namespace otc::host::http
