// The last step of the loading list: what a plugin's entry returned must be whole
// and say the same as its manifest (docs/reference/plugin-abi.md §11.10). Reads
// memory of the plugin, so it runs in the probe's child first. Pure; any thread.
#ifndef OTC_HOST_PLUGIN_DESCRIPTOR_H_
#define OTC_HOST_PLUGIN_DESCRIPTOR_H_

#include <string>
#include <vector>

#include "host/plugin/plugin_file.h"
#include "otc/plugin.h"
#include "sdk/inspect/manifest.h"

namespace otc::host::plugin_host {

// Every violation at once; empty: accepted. `descriptor` may be null.
std::vector<Refusal> CheckDescriptor(const otc_plugin* descriptor,
                                     const inspect::Manifest& manifest);

// The table of interface `id`; null: not offered.
const void* FindTable(const otc_plugin& descriptor, std::string_view id);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_DESCRIPTOR_H_
