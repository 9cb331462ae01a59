// otc-sim: the simulated cloud as a program; docs/reference/otc-sim.md.
#include <signal.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tests/sim/otc/command_line.h"
#include "tests/sim/otc/simulator.h"

namespace otc::sim {
namespace {

constexpr int kBadUsage = 2;
constexpr int kCannotStart = 1;

int Fail(int code, const Status& status) {
  std::fprintf(stderr, "otc-sim: %s\n", status.message().c_str());
  return code;
}

// Written whole beside its place, then renamed: a reader never sees half of it.
Status WritePortsFile(const std::string& path, const std::string& json) {
  const std::string temporary = path + ".tmp";
  std::ofstream file(temporary, std::ios::trunc);
  file << json << '\n';
  file.close();
  if (file && std::rename(temporary.c_str(), path.c_str()) == 0) return Status::Ok();
  return Status(Code::kUnavailable, "CannotWrite", "cannot write ports file " + path);
}

int Run(int argc, char** argv) {
  const auto parsed = ParseCommandLine({argv + 1, argv + argc});
  if (!parsed.ok()) return Fail(kBadUsage, parsed.status());
  if (!parsed->text_to_print.empty()) {
    std::fputs(parsed->text_to_print.c_str(), stdout);
    return 0;
  }
  // Blocked before any thread exists, so that only sigwait below sees them.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  if (parsed->die_with_parent) {
    const Status status = DieWithParent();
    if (!status.ok()) return Fail(kCannotStart, status);
  }

  Simulator simulator(parsed->options);
  if (!parsed->document.empty()) {
    const auto loaded = simulator.Load(parsed->document);
    if (!loaded.ok()) return Fail(kBadUsage, loaded.status());
  }
  Status status = simulator.Start();
  if (status.ok() && !parsed->ports_file.empty()) {
    status = WritePortsFile(parsed->ports_file, simulator.PortsJson());
  }
  if (!status.ok()) return Fail(kCannotStart, status);
  std::printf("%s\n", simulator.PortsJson().c_str());
  std::fflush(stdout);

  int received = 0;
  sigwait(&signals, &received);
  simulator.Stop();
  return 0;
}

}  // namespace
}  // namespace otc::sim

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  return otc::sim::Run(argc, argv);
}
