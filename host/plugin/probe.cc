#include "host/plugin/probe.h"

#include <algorithm>
#include <cstring>

#include "host/base/strings.h"
#include "host/plugin/child_process.h"
#include "host/plugin/loader.h"
#include "host/plugin/probe_verdict.h"

namespace otc::host::plugin_host {
namespace {

constexpr int kPluginFdInChild = 5;
constexpr std::size_t kShownOutput = 500;
constexpr char kRule[] = "LOAD-8";

// What the child printed, as one short line without control characters.
std::string Shown(const std::string& output) {
  std::string line = ReplaceInvalidUtf8(TrimSpace(output).substr(0, kShownOutput));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line.empty() ? "" : "; it printed: " + line;
}

Refusal ChildRefusal(const ChildResult& child, Duration timeout) {
  const std::string shown = Shown(child.output);
  const std::string seconds =
      std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count());
  switch (child.end) {
    case ChildResult::End::kTimedOut:
      return {kRule, "loading it did not end within " + seconds + " ms" + shown,
              "constructors and an entry without effects",
              "do not start threads, wait or connect before create"};
    case ChildResult::End::kSignalled:
      return {kRule,
              "loading it crashed with signal " + std::to_string(child.code) + " (" +
                  strsignal(child.code) + ")" + shown,
              "constructors and an entry that do not crash",
              "run `otc-host probe FILE` under a debugger"};
    case ChildResult::End::kExited:
      break;
  }
  return {kRule,
          "loading it ended the process with exit code " + std::to_string(child.code) + shown,
          "constructors and an entry that return",
          "do not call exit; run `otc-host probe FILE` to see what it says"};
}

}  // namespace

Status ProbePlugin(const VerifiedPlugin& plugin, const std::vector<std::string>& command,
                   Duration timeout, Clock& clock) {
  const std::string nonce = RandomUuid();
  ChildSpec spec;
  spec.argv = command;
  for (const std::string& arg :
       {std::string("--fd"), std::to_string(kPluginFdInChild), std::string("--nonce"), nonce}) {
    spec.argv.push_back(arg);
  }
  // No variable of ours reaches the plugin.
  spec.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
  spec.descriptors = {{plugin.file.fd.get(), kPluginFdInChild}};
  spec.timeout = timeout;
  spec.max_output = 64 * 1024;
  const Result<ChildResult> child = RunChild(spec, clock);
  const std::string& path = plugin.file.path;
  if (!child.ok()) {
    return RefusalStatus(path, {{kRule, "the probe did not start: " + child.status().message(),
                                 "a child process that loads the plugin first",
                                 "allow otc-host to start itself, then restart it"}});
  }
  std::vector<Refusal> refusals;
  const bool answered = ParseVerdict(child->channel, nonce, &refusals);
  // An answer followed by a crash (a destructor, a thread) is no answer.
  if (!answered || child->end != ChildResult::End::kExited ||
      (refusals.empty() && child->code != 0)) {
    refusals = {ChildRefusal(*child, timeout)};
  }
  return refusals.empty() ? Status::Ok() : RefusalStatus(path, refusals);
}

}  // namespace otc::host::plugin_host
