/* Refuses every host. */
#define BAD_ENTRY
#include "base.h"

static const otc_plugin* const kNever = &kPlugin;

const otc_plugin* otc_plugin_entry_v1(const otc_host* host) {
  return host == (const otc_host*)kNever ? &kPlugin : NULL;
}
