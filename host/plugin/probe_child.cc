// The child's half of the probe: loads a plugin, calls its entry, judges the
// descriptor, says so, and ends without running anything else of the plugin.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "host/base/strings.h"
#include "host/plugin/child_process.h"
#include "host/plugin/library.h"
#include "host/plugin/plugin_file.h"
#include "host/plugin/probe.h"
#include "host/plugin/probe_verdict.h"
#include "sdk/inspect/rules.h"

namespace otc::host::plugin_host {
namespace {

std::vector<std::uint8_t> ReadFile(int fd) {
  struct stat status {};
  std::vector<std::uint8_t> bytes;
  if (fstat(fd, &status) != 0 || status.st_size < 0 ||
      static_cast<std::uint64_t>(status.st_size) > kMaxPluginBytes) {
    return bytes;
  }
  bytes.resize(static_cast<std::size_t>(status.st_size));
  const ssize_t n = pread(fd, bytes.data(), bytes.size(), 0);
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

// Runs the plugin's constructors and entry.
std::vector<Refusal> Judge(UniqueFd fd) {
  inspect::Manifest manifest;
  const std::vector<Refusal> refusals =
      inspect::CheckPluginFile(ReadFile(fd.get()), {"", nullptr, true}, nullptr, &manifest);
  if (!refusals.empty()) return refusals;
  Result<EntryFunction> entry = OpenLibrary(std::move(fd));
  if (!entry.ok()) return {LoadViolation(entry.status())};
  return JudgeEntry(*entry, manifest, nullptr);
}

// Neither a core file nor a life after the host's.
void LimitSelf() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int AnswerParent(int fd, const std::string& nonce) {
  LimitSelf();
  const std::vector<Refusal> refusals = Judge(UniqueFd(fd));
  const std::string text = FormatVerdict(refusals, nonce);
  const ssize_t n = write(kChildChannel, text.data(), text.size());
  // _exit: neither destructors nor atexit handlers of the plugin run.
  _exit(n == static_cast<ssize_t>(text.size()) ? (refusals.empty() ? 0 : 1) : 2);
}

int TellPeople(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    std::fprintf(stderr, "otc-host probe: %s: %s\n", path.c_str(), std::strerror(errno));
    return 2;
  }
  const std::vector<Refusal> refusals = Judge(std::move(fd));
  if (refusals.empty()) {
    std::printf("%s: loads; manifest and descriptor agree\n", path.c_str());
  } else {
    std::printf("%s\n", RefusalStatus(path, refusals).message().c_str());
  }
  std::fflush(stdout);
  _exit(refusals.empty() ? 0 : 1);
}

}  // namespace

int ProbeMain(const std::vector<std::string>& args) {
  if (args.size() == 4 && args[0] == "--fd" && args[2] == "--nonce") {
    if (const auto fd = ParseUint(args[1]); fd && *fd < 1024) {
      return AnswerParent(static_cast<int>(*fd), args[3]);
    }
  }
  if (args.size() == 1 && !args[0].empty() && args[0].front() != '-') return TellPeople(args[0]);
  std::fprintf(stderr,
               "otc-host probe: wrong arguments; use: otc-host probe PATH (loads a plugin file "
               "as the host would before it trusts it, and says why it would be refused)\n");
  return 2;
}

}  // namespace otc::host::plugin_host
