#include "host/plugin/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 declares it without C linkage
}

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "host/plugin/unique_fd.h"

namespace otc::host::plugin_host {
namespace {

// Descriptors below this number are targets inside the child; ours stay above,
// so that no dup2 there overwrites a source that a later one needs.
constexpr int kFirstOwn = 64;
constexpr std::chrono::seconds kKillPatience{5};

Status SpawnFailed(const std::string& what, int error) {
  return Status(Code::kUnavailable, "SpawnFailed", what + ": " + std::strerror(error));
}

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

bool MakePipe(Pipe* pipe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const UniqueFd low_read(ends[0]);
  const UniqueFd low_write(ends[1]);
  pipe->read = UniqueFd(fcntl(ends[0], F_DUPFD_CLOEXEC, kFirstOwn));
  pipe->write = UniqueFd(fcntl(ends[1], F_DUPFD_CLOEXEC, kFirstOwn));
  return pipe->read.valid() && pipe->write.valid() &&
         fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK) == 0;
}

// Frees what posix_spawn's two description objects hold.
struct SpawnPlan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
};

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

Result<pid_t> Spawn(const ChildSpec& spec, int output, int channel) {
  SpawnPlan plan;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setsigdefault(&plan.attributes, &all);
  posix_spawnattr_setpgroup(&plan.attributes, 0);
  posix_spawnattr_setflags(&plan.attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_addopen(&plan.actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&plan.actions, output, 1);
  posix_spawn_file_actions_adddup2(&plan.actions, output, 2);
  posix_spawn_file_actions_adddup2(&plan.actions, channel, kChildChannel);
  std::vector<UniqueFd> high;  // the sources, out of the way of the targets
  for (const auto& [ours, theirs] : spec.descriptors) {
    high.emplace_back(fcntl(ours, F_DUPFD_CLOEXEC, kFirstOwn));
    if (!high.back().valid()) return SpawnFailed("F_DUPFD_CLOEXEC", errno);
    posix_spawn_file_actions_adddup2(&plan.actions, high.back().get(), theirs);
  }
  // Ours are closed by exec; this is for what others left open without O_CLOEXEC.
  int last = kChildChannel;
  for (const auto& [ours, theirs] : spec.descriptors) {
    for (int gap = last + 1; gap < theirs; ++gap) {
      posix_spawn_file_actions_addclose(&plan.actions, gap);
    }
    last = theirs;
  }
  posix_spawn_file_actions_addclosefrom_np(&plan.actions, last + 1);
  const std::vector<char*> argv = Pointers(spec.argv);
  const std::vector<char*> environment = Pointers(spec.environment);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, argv[0], &plan.actions, &plan.attributes, argv.data(), environment.data());
  if (error != 0) return SpawnFailed(spec.argv[0], error);
  return pid;
}

// Reads what is there. False at the end of the stream.
bool Drain(int fd, std::size_t limit, std::string* out, bool* truncated) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    const std::size_t room = limit - std::min(limit, out->size());
    const std::size_t keep = std::min(room, static_cast<std::size_t>(n));
    out->append(buffer.data(), keep);
    if (keep < static_cast<std::size_t>(n)) *truncated = true;
  }
}

// A running child and the reading ends of its pipes.
class Child {
 public:
  Child(pid_t pid, UniqueFd pidfd, UniqueFd output, UniqueFd channel, std::size_t limit)
      : pid_(pid),
        pidfd_(std::move(pidfd)),
        output_(std::move(output)),
        channel_(std::move(channel)),
        limit_(limit) {}

  // False if the deadline came first.
  bool AwaitExit(Clock& clock, MonoTime deadline) {
    for (;;) {
      std::array<pollfd, 3> fds = {
          {{pidfd_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}, {channel_.get(), POLLIN, 0}}};
      const int wait = clock.PollMillis(deadline);
      const int ready = poll(fds.data(), fds.size(), wait);
      if (ready < 0 && errno != EINTR) return false;
      DrainBoth();
      if (ready > 0 && fds[0].revents != 0) return true;
      if (clock.Now() >= deadline) return false;
    }
  }

  // The whole group: what the child started must not outlive it. Before the
  // child is reaped its pid, and so the group's number, cannot be reused.
  void KillGroup() { kill(-pid_, SIGKILL); }

  void Finish(ChildResult* result) {
    siginfo_t info{};
    const bool reaped = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG) == 0 &&
                        info.si_pid == pid_;
    DrainBoth();
    if (result->end != ChildResult::End::kTimedOut && reaped) {
      result->end =
          info.si_code == CLD_EXITED ? ChildResult::End::kExited : ChildResult::End::kSignalled;
      result->code = info.si_status;
    }
    result->output = std::move(output_text_);
    result->channel = std::move(channel_text_);
    result->truncated = truncated_;
  }

 private:
  void DrainBoth() {
    // A stream at its end is closed: poll would report it again and again.
    if (output_.valid() && !Drain(output_.get(), limit_, &output_text_, &truncated_)) {
      output_.Reset();
    }
    if (channel_.valid() && !Drain(channel_.get(), limit_, &channel_text_, &truncated_)) {
      channel_.Reset();
    }
  }

  const pid_t pid_;
  UniqueFd pidfd_;
  UniqueFd output_;
  UniqueFd channel_;
  const std::size_t limit_;
  std::string output_text_;
  std::string channel_text_;
  bool truncated_ = false;
};

}  // namespace

Result<ChildResult> RunChild(const ChildSpec& spec, Clock& clock) {
  Pipe output, channel;
  if (!MakePipe(&output) || !MakePipe(&channel)) return SpawnFailed("pipe2", errno);
  const Result<pid_t> pid = Spawn(spec, output.write.get(), channel.write.get());
  if (!pid.ok()) return pid.status();
  output.write.Reset();
  channel.write.Reset();
  UniqueFd pidfd(pidfd_open(*pid, 0));
  const int pidfd_error = errno;
  const bool waitable = pidfd.valid();
  Child child(*pid, std::move(pidfd), std::move(output.read), std::move(channel.read),
              spec.max_output);
  ChildResult result;
  if (!waitable) {
    child.KillGroup();
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(*pid), &info, WEXITED);
    return SpawnFailed("pidfd_open", pidfd_error);
  }
  if (!child.AwaitExit(clock, clock.Now() + spec.timeout)) {
    result.end = ChildResult::End::kTimedOut;
    child.KillGroup();
    // The kernel's time, not the injected one: the child is dying right now.
    SystemClock real;
    child.AwaitExit(real, real.Now() + kKillPatience);
  }
  child.KillGroup();
  child.Finish(&result);
  return result;
}

}  // namespace otc::host::plugin_host
