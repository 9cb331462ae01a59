#include "host/cli/version.h"

#include <sys/utsname.h>

namespace otc::host::cli {

std::string HostVersion() { return OTC_HOST_VERSION; }

std::string UserAgent() {
  utsname name{};
  std::string machine = uname(&name) == 0 ? name.machine : "unknown";
  if (machine == "x86_64") machine = "amd64";  // the names that audit logs are searched for
  if (machine == "aarch64") machine = "arm64";
  return "otc-host/" + HostVersion() + " (linux/" + machine + ")";
}

}  // namespace otc::host::cli
