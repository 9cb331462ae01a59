/* The entry of a later ABI only. */
#define BAD_ENTRY
#include "base.h"

__attribute__((visibility("default"))) const otc_plugin* otc_plugin_entry_v2(const otc_host* host) {
  (void)host;
  return &kPlugin;
}
