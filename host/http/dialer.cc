#include "host/http/dialer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "host/base/strings.h"
#include "host/http/wait.h"

namespace otc::host::http {
namespace {

struct Attempt {
  UniqueFd fd;
  std::string address;
};

void SetOption(int fd, int level, int name, int value) {
  // Refusal (a kernel without the option) costs only what the option gives.
  setsockopt(fd, level, name, &value, sizeof(value));
}

// One dial: the attempts under way and the errors of those that failed.
class DialLoop {
 public:
  DialLoop(const std::vector<Address>& addresses, const CallContext& context)
      : addresses_(addresses),
        count_(std::min(addresses.size(), kMaxAddresses)),
        context_(context) {}

  Result<UniqueFd> Run() {
    MonoTime next_start = context_.clock->Now();
    while (true) {
      const MonoTime now = context_.clock->Now();
      if (next_ < count_ && (attempts_.empty() || now >= next_start)) {
        next_start = now + kHeadStart;
        if (UniqueFd fd = Start(addresses_[next_++]); fd.get() >= 0) return fd;
        continue;
      }
      if (attempts_.empty()) return Failed();
      if (Status status = WaitForAny(next_ < count_ ? next_start : MonoTime::max()); !status.ok()) {
        return status.WithPrefix("connect to " + attempts_.back().address + ": ");
      }
      if (UniqueFd fd = TakeConnected(); fd.get() >= 0) return fd;
    }
  }

 private:
  // The connected socket if that was instant; else the attempt is under way or
  // its error is noted.
  UniqueFd Start(const Address& address) {
    const std::string text = address.ToString();
    UniqueFd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd.get() < 0) {
      NoteError(text, errno);
      return UniqueFd();
    }
    SetOption(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    const auto* raw = reinterpret_cast<const sockaddr*>(&address.storage);
    if (connect(fd.get(), raw, address.length) == 0) return fd;
    if (errno == EINPROGRESS) {
      attempts_.push_back({std::move(fd), text});
    } else {
      NoteError(text, errno);
    }
    return UniqueFd();
  }

  Status WaitForAny(MonoTime wake_at) {
    polled_.clear();
    for (const auto& attempt : attempts_) polled_.push_back({attempt.fd.get(), POLLOUT, 0});
    return Wait(context_, polled_, wake_at);
  }

  // The first of the polled attempts that is connected; failed ones are dropped.
  UniqueFd TakeConnected() {
    for (std::size_t i = 0; i < polled_.size();) {
      if (polled_[i].revents == 0) {
        ++i;
        continue;
      }
      int error = 0;
      socklen_t length = sizeof(error);
      getsockopt(polled_[i].fd, SOL_SOCKET, SO_ERROR, &error, &length);
      if (error == 0) return std::move(attempts_[i].fd);
      NoteError(attempts_[i].address, error);
      attempts_.erase(attempts_.begin() + static_cast<std::ptrdiff_t>(i));
      polled_.erase(polled_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return UniqueFd();
  }

  void NoteError(const std::string& address, int error) {
    errors_.push_back(address + ": " + std::generic_category().message(error));
  }

  Status Failed() const {
    return Status(Code::kUnavailable, "ConnectFailed", "connect to " + Join(errors_, "; "));
  }

  const std::vector<Address>& addresses_;
  const std::size_t count_;
  const CallContext& context_;
  std::size_t next_ = 0;
  std::vector<Attempt> attempts_;
  std::vector<pollfd> polled_;  // parallel to attempts_ after WaitForAny
  std::vector<std::string> errors_;
};

}  // namespace

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) close(fd_);
}

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = other.Release();
  }
  return *this;
}

int UniqueFd::Release() { return std::exchange(fd_, -1); }

Result<UniqueFd> Dial(const std::vector<Address>& addresses, const CallContext& context) {
  return DialLoop(addresses, context).Run();
}

void DetectDeadPeer(int fd) {
  SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPCNT, 5);
  SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

}  // namespace otc::host::http
