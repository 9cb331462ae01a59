#include "sdk/check/judge.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/check/child.h"
#include "sdk/check/wire.h"
#include "sdk/harness/fake_host.h"
#include "sdk/inspect/file.h"

namespace otc::check {
namespace {

constexpr char kStaticFailed[] = "the loader refuses the file before any code runs";

std::string FileId(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  if (name.size() > 3 && name.compare(name.size() - 3, 3, ".so") == 0) {
    name.resize(name.size() - 3);
  }
  return name;
}

// How a child ended.
struct Ending {
  bool done = false;  // it said so itself
  bool timed_out = false;
  int wait_status = 0;
  std::string stage;  // its last step

  std::string Text() const {
    if (timed_out) return stage + ": did not come back";
    if (WIFSIGNALED(wait_status)) {
      return stage + ": killed by signal " + std::to_string(WTERMSIG(wait_status)) + " (" +
             strsignal(WTERMSIG(wait_status)) + ")";
    }
    return stage + ": ended the process with exit code " + std::to_string(WEXITSTATUS(wait_status));
  }
};

void TakeLine(std::string_view line, Report* report, Ending* ending) {
  const std::vector<std::string> fields = ParseWireLine(line);
  if (fields[0] == "stage" && fields.size() == 2) {
    ending->stage = fields[1];
  } else if (fields[0] == "judged" && fields.size() == 2) {
    report->Judged(fields[1]);
  } else if (fields[0] == "not-judged" && fields.size() == 3) {
    report->NotJudged(fields[1], fields[2]);
  } else if (fields[0] == "violation" && fields.size() == 5) {
    report->Add({fields[1], fields[2], fields[3], fields[4]});
  } else if (fields[0] == "done") {
    ending->done = true;
  }
}

// Reads lines until the child closes its end or a step takes too long.
void Listen(int fd, int step_timeout_s, Report* report, Ending* ending) {
  std::string pending;
  char buffer[4096];
  for (;;) {
    pollfd wait{fd, POLLIN, 0};
    const int ready = poll(&wait, 1, step_timeout_s * 1000);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      ending->timed_out = true;
      return;
    }
    const ssize_t size = read(fd, buffer, sizeof(buffer));
    if (size <= 0) return;
    pending.append(buffer, static_cast<std::size_t>(size));
    std::size_t end;
    while ((end = pending.find('\n')) != std::string::npos) {
      TakeLine(std::string_view(pending).substr(0, end), report, ending);
      pending.erase(0, end + 1);
    }
  }
}

// The environment, in which a sanitizer that finds something ends the child by a
// signal: its exit code would look like a plugin that calls exit.
std::vector<std::string> ChildEnvironment() {
  std::vector<std::string> out;
  std::map<std::string, std::string> options = {
      {"ASAN_OPTIONS", ""}, {"TSAN_OPTIONS", ""}, {"UBSAN_OPTIONS", ""}};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto known = options.find(text.substr(0, text.find('=')));
    if (known == options.end()) {
      out.push_back(text);
    } else {
      known->second = text.substr(text.find('=') + 1) + ":";
    }
  }
  for (const auto& [name, value] : options) out.push_back(name + "=" + value + "abort_on_error=1");
  return out;
}

// Pointers as posix_spawn wants them; valid as long as `words`.
std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

Result<Ending> RunGroup(Group group, const std::string& path, const JudgeOptions& options,
                        Report* report) {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    return Status(Code::kUnavailable, "NoPipe", std::strerror(errno));
  }
  constexpr int kChildFd = 3;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], kChildFd);
  const std::vector<std::string> words = {
      "otc-plugin-check", "--child",     GroupName(group), std::to_string(kChildFd), path,
      options.role,       options.config};
  const std::vector<std::string> environment = ChildEnvironment();
  pid_t pid = 0;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, Pointers(words).data(),
                                Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_fds[1]);
  if (error != 0) {
    close(pipe_fds[0]);
    return Status(Code::kUnavailable, "NoChild", std::strerror(error));
  }
  Ending ending;
  ending.stage = "start of the child";
  Listen(pipe_fds[0], options.step_timeout_s, report, &ending);
  close(pipe_fds[0]);
  // A child that said everything may still hang in its exit.
  if (ending.timed_out || ending.done) kill(pid, SIGKILL);
  while (waitpid(pid, &ending.wait_status, 0) < 0 && errno == EINTR) {
  }
  return ending;
}

// The rule that a child's death broke.
Violation Death(Group group, const Ending& ending) {
  const std::string found = ending.Text();
  if (group == Group::kLoad) {
    return {"LOAD-8", found, "a plugin that can be loaded and asked for its descriptor",
            "remove constructors (also of static objects) that do work; the entry only returns "
            "the address of static data"};
  }
  if (ending.timed_out) {
    return {"ABI-R16", found, "a return within 1 s of cancelled and before the deadline",
            "wait only through host services, they end by themselves"};
  }
  if (WIFEXITED(ending.wait_status)) {
    return {"ABI-R21", found, "no exit", "return a code instead of ending the process"};
  }
  return {"ABI-R10", found,
          "any input survives: empty, huge, invalid, without NUL, gone after the return",
          "read ptr[0..len) only, and not after the slot returned; run the step in a debugger"};
}

void JudgeStatically(const std::vector<std::uint8_t>& bytes, const std::string& path,
                     const JudgeOptions& options, Report* report) {
  harness::FakeHost host;
  host.SetKube([](const auto&, auto*) { return OTC_OK; },
               [](const auto&, auto*) { return OTC_OK; });
  host.SetExec([](const auto&, auto*) { return OTC_OK; });
  const inspect::ServiceSizes services = host.services();
  inspect::ManifestExpectations expected;
  expected.file_id = FileId(path);
  expected.services = &services;
  expected.allow_debug = options.allow_debug;
  inspect::ElfInfo elf;
  report->AddAll(inspect::CheckPluginFile(bytes, expected, &elf, nullptr));
  report->Judged("LOAD-4");
  if (!elf.IsSharedObject()) return;  // the rest speaks of shared objects
  report->AddAll(inspect::CheckExports(elf));
  report->AddAll(inspect::CheckLinkFlags(elf));
  report->AddAll(inspect::CheckSymbolVersions(elf));
  for (const char* rule : {"LOAD-6", "ABI-R01", "ABI-R02", "ABI-R03", "ABI-R04", "ABI-R05"}) {
    report->Judged(rule);
  }
}

// Whether the loader would go on to run code: these do not stop it by themselves.
bool Loadable(const std::vector<std::uint8_t>& bytes, const std::string& path,
              const JudgeOptions& options) {
  inspect::ManifestExpectations expected;
  expected.file_id = FileId(path);
  expected.allow_debug = options.allow_debug;
  return inspect::CheckPluginFile(bytes, expected, nullptr, nullptr).empty();
}

}  // namespace

Result<Report> Judge(const std::string& path, const JudgeOptions& options) {
  const auto read = inspect::ReadPluginFile(path);
  if (!read.ok()) return read.status();
  const std::vector<std::uint8_t>& bytes = *read;
  Report report(path);
  JudgeStatically(bytes, path, options, &report);
  if (!Loadable(bytes, path, options)) {
    report.RestNotJudged(kStaticFailed);
    return report;
  }
  char* const absolute = realpath(path.c_str(), nullptr);
  const std::string full = absolute == nullptr ? path : absolute;
  std::free(absolute);
  for (const Group group : kGroups) {
    auto ending = RunGroup(group, full, options, &report);
    if (!ending.ok()) return ending.status();
    if (!ending->done) report.Add(Death(group, *ending));
    const bool broken = report.verdict("LOAD-8").state == RuleVerdict::State::kFailed ||
                        report.verdict("LOAD-10").state == RuleVerdict::State::kFailed;
    if (group == Group::kLoad && broken) {
      report.RestNotJudged("the plugin cannot be loaded");
      return report;
    }
  }
  report.RestNotJudged("a step before it did not end well");
  return report;
}

}  // namespace otc::check
