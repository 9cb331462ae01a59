// The probe's answer: one line on the child's channel, understood by the parent.
// Pure functions; any thread.
#ifndef OTC_HOST_PLUGIN_PROBE_VERDICT_H_
#define OTC_HOST_PLUGIN_PROBE_VERDICT_H_

#include <string>
#include <vector>

#include "host/plugin/plugin_file.h"

namespace otc::host::plugin_host {

// "otc-probe <nonce> OK" and a line break, or the refusals instead of OK.
std::string FormatVerdict(const std::vector<Refusal>& refusals, const std::string& nonce);

// False unless `channel` ends with a whole answer that carries the nonce; what
// stands before it came from the plugin.
bool ParseVerdict(const std::string& channel, const std::string& nonce,
                  std::vector<Refusal>* refusals);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_PROBE_VERDICT_H_
