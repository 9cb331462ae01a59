// otc-host: the process. Sub-commands: none (run the host), plugins, probe.
#include <Poco/Net/NetSSL.h>
#include <google/protobuf/stubs/logging.h>
#include <malloc.h>
#include <signal.h>

#include <cstdio>
#include <string>
#include <vector>

#include "host/base/strings.h"
#include "host/cli/host_flags.h"
#include "host/cli/plugins_command.h"
#include "host/cli/run_command.h"
#include "host/cli/supervisor.h"
#include "host/cli/version.h"
#include "host/plugin/probe.h"

namespace {

constexpr char kUsage[] =
    "otc-host [flags]                     run the host\n"
    "otc-host plugins [-o json] [flags]   show what would be loaded, and why not\n"
    "otc-host probe FILE                  load one plugin in this process and judge it\n"
    "\n";

int Main(const std::vector<std::string>& args) {
  using namespace otc::host;  // NOLINT(google-build-using-namespace): main only
  if (!args.empty() && args[0] == "probe") {
    return plugin_host::ProbeMain({args.begin() + 1, args.end()});
  }
  if (!args.empty() && args[0] == "plugins") {
    return cli::PluginsCommand({args.begin() + 1, args.end()});
  }
  cli::HostFlags flags;
  cli::FlagSet set;
  cli::DefineHostFlags(&flags, &set);
  const std::vector<std::string> errors = set.Parse(args);
  if (flags.help) {
    std::fputs((kUsage + set.Help()).c_str(), stdout);
    return cli::kExitOk;
  }
  if (flags.version) {
    std::printf("otc-host %s\n", cli::HostVersion().c_str());
    return cli::kExitOk;
  }
  if (!errors.empty()) return cli::Refuse(flags, Join(errors, "\n"));
  cli::Supervisor supervisor;
  return cli::RunHost(flags, set, supervisor);
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  // One heap for each of many threads would keep what each once needed: a sweep
  // over thousands of nodes runs on another thread each time.
  mallopt(M_ARENA_MAX, 2);
  // Large buffers (a plugin file that is checked, a page of servers) go back to
  // the system when they are freed. Unset, the limit grows with the first of them
  // and the heap keeps all later ones.
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  google::protobuf::SetLogHandler(nullptr);  // it writes to standard error
  Poco::Net::initializeSSL();
  const int code = Main({argv + 1, argv + argc});
  Poco::Net::uninitializeSSL();
  return code;
}
