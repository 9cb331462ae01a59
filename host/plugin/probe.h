// Probe: loads a plugin in a child process first, so that a constructor or entry
// that crashes, hangs or exits costs that plugin and not the host.
//
// The child gets the very descriptor that was verified and answers on a channel
// of its own with a nonce, so that nothing a constructor prints or exits with
// can be taken for an answer. Everything else is a refusal with what was seen.
#ifndef OTC_HOST_PLUGIN_PROBE_H_
#define OTC_HOST_PLUGIN_PROBE_H_

#include <string>
#include <vector>

#include "host/base/clock.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::plugin_host {

struct VerifiedPlugin;

// OK, or "Refused" with rule LOAD-8 (LOAD-9, LOAD-10 as the child found them).
// Blocks for at most `timeout`. `command`: see PluginManagerOptions.
Status ProbePlugin(const VerifiedPlugin& plugin, const std::vector<std::string>& command,
                   Duration timeout, Clock& clock);

// The child: `otc-host probe` with the arguments behind that word. Either
// "--fd N --nonce TEXT" from ProbePlugin, or a path, for people: the same test
// with the verdict on standard output. Returns the exit code: 0 accepted, 1
// refused, 2 wrong use.
int ProbeMain(const std::vector<std::string>& args);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_PROBE_H_
