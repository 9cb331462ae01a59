// `otc-host plugins`: which plugins would be loaded, in which state, and why not.
#ifndef OTC_HOST_CLI_PLUGINS_COMMAND_H_
#define OTC_HOST_CLI_PLUGINS_COMMAND_H_

#include <string>
#include <vector>

namespace otc::host::cli {

// Arguments behind the word: --config, --role, --plugin-dir,
// --allow-debug-plugins, and -o table|json. Prints to standard output. Runs no
// code of any plugin; the state of a running host is at its /plugins.
int PluginsCommand(const std::vector<std::string>& args);

}  // namespace otc::host::cli

#endif  // OTC_HOST_CLI_PLUGINS_COMMAND_H_
