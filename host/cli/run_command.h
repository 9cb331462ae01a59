// `otc-host` without a sub-command: runs the host until it is told to end.
#ifndef OTC_HOST_CLI_RUN_COMMAND_H_
#define OTC_HOST_CLI_RUN_COMMAND_H_

#include <string>

#include "host/cli/host_flags.h"
#include "host/cli/supervisor.h"

namespace otc::host::cli {

// Exit codes, as docs/reference/flags.md lists them.
inline constexpr int kExitOk = 0;        // asked to end
inline constexpr int kExitFailed = 1;    // cannot start, or the lease was lost
inline constexpr int kExitUsage = 2;     // flags or files are wrong
inline constexpr int kExitRequired = 3;  // a required plugin cannot run

// Tells what is wrong with flags or files, a line each; the exit code.
int Refuse(const HostFlags& flags, const std::string& errors);

// `set` was parsed into `flags`. Blocks; returns the exit code. Ends the process
// itself (_exit) where threads must not be waited for.
int RunHost(const HostFlags& flags, const FlagSet& set, Supervisor& supervisor);

}  // namespace otc::host::cli

#endif  // OTC_HOST_CLI_RUN_COMMAND_H_
