// The host's version, as `otc-host --version`, user agents and plugins see it.
#ifndef OTC_HOST_CLI_VERSION_H_
#define OTC_HOST_CLI_VERSION_H_

#include <string>

namespace otc::host::cli {

std::string HostVersion();  // "0.1.0"
std::string UserAgent();    // "otc-host/0.1.0 (linux/amd64)"

}  // namespace otc::host::cli

#endif  // OTC_HOST_CLI_VERSION_H_
