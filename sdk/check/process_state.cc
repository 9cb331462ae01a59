#include "sdk/check/process_state.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <clocale>
#include <cstdint>
#include <cstring>

namespace otc::check {
namespace {

std::vector<std::string> Entries(const char* folder) {
  std::vector<std::string> names;
  DIR* const dir = opendir(folder);
  if (dir == nullptr) return names;
  const std::string own = std::to_string(dirfd(dir));
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] != '.' && entry->d_name != own) names.emplace_back(entry->d_name);
  }
  closedir(dir);
  return names;
}

std::string LinkTarget(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path.c_str(), target, sizeof(target));
  return size < 0 ? "" : std::string(target, static_cast<std::size_t>(size));
}

}  // namespace

ProcessState ProcessState::Now() {
  ProcessState state;
  auto& facts = state.facts_;
  for (const std::string& fd : Entries("/proc/self/fd")) {
    facts["open file " + fd] = LinkTarget("/proc/self/fd/" + fd);
  }
  facts["threads"] = std::to_string(Entries("/proc/self/task").size());
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    facts["environment variable " + text.substr(0, equals)] =
        equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  facts["working directory"] = LinkTarget("/proc/self/cwd");
  const mode_t mask = umask(0);
  umask(mask);
  facts["umask"] = std::to_string(mask);
  const char* const locale = std::setlocale(LC_ALL, nullptr);
  facts["locale"] = locale == nullptr ? "" : locale;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) != 0) continue;
    const auto handler = reinterpret_cast<std::uintptr_t>(action.sa_handler);
    facts["handler of signal " + std::to_string(number)] =
        handler == reinterpret_cast<std::uintptr_t>(SIG_DFL)   ? "default"
        : handler == reinterpret_cast<std::uintptr_t>(SIG_IGN) ? "ignored"
                                                               : "a function";
  }
  for (int limit = 0; limit < RLIM_NLIMITS; ++limit) {
    rlimit value{};
    if (getrlimit(static_cast<__rlimit_resource_t>(limit), &value) == 0) {
      facts["resource limit " + std::to_string(limit)] = std::to_string(value.rlim_cur);
    }
  }
  return state;
}

std::vector<std::string> ProcessState::ChangesSince(const ProcessState& before) const {
  std::vector<std::string> out;
  for (const auto& [name, value] : facts_) {
    const auto old = before.facts_.find(name);
    if (old == before.facts_.end()) {
      out.push_back(name + " is new: " + value);
    } else if (old->second != value) {
      out.push_back(name + " changed from " + old->second + " to " + value);
    }
  }
  for (const auto& [name, value] : before.facts_) {
    if (facts_.count(name) == 0) out.push_back(name + " is gone: " + value);
  }
  return out;
}

}  // namespace otc::check
