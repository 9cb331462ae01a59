#include "host/cli/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <system_error>

namespace otc::host::cli {

Supervisor::Supervisor() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  event_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (signal_fd_ < 0 || event_fd_ < 0) {
    throw std::system_error(errno, std::generic_category(), "signalfd or eventfd");
  }
}

Supervisor::~Supervisor() {
  close(signal_fd_);
  close(event_fd_);
}

void Supervisor::Post(Notice notice) {
  {
    std::lock_guard lock(mutex_);
    notices_.push_back(std::move(notice));
  }
  const std::uint64_t one = 1;
  if (write(event_fd_, &one, sizeof(one)) < 0) {
    // Only a full counter can refuse, and then the reader is awake anyway.
  }
}

std::optional<Notice> Supervisor::Pop() {
  std::uint64_t count = 0;
  if (read(event_fd_, &count, sizeof(count)) < 0) {
    // Nothing was posted since; the queue may still hold older notices.
  }
  std::lock_guard lock(mutex_);
  if (notices_.empty()) return std::nullopt;
  Notice notice = std::move(notices_.front());
  notices_.pop_front();
  return notice;
}

std::optional<Notice> Supervisor::ReadSignal() {
  signalfd_siginfo info{};
  if (read(signal_fd_, &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  Notice notice;
  notice.kind = info.ssi_signo == SIGHUP ? Notice::Kind::kReload : Notice::Kind::kTerminate;
  return notice;
}

std::optional<Notice> Supervisor::Wait(std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    if (auto notice = ReadSignal()) return notice;
    if (auto notice = Pop()) return notice;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd entries[] = {{signal_fd_, POLLIN, 0}, {event_fd_, POLLIN, 0}};
    poll(entries, 2, static_cast<int>(left.count()));
  }
}

void WriteTerminationMessage(const std::string& path, const std::string& message) {
  if (path.empty()) return;
  // Never created: the kubelet provides the file, elsewhere there is no reader.
  const int fd = open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  const std::string text = message.substr(0, 4096);
  if (write(fd, text.data(), text.size()) < 0) {
    // The log has it.
  }
  close(fd);
}

}  // namespace otc::host::cli
