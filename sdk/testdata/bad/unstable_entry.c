/* Gives another descriptor each time. */
#define BAD_ENTRY
#include "base.h"

const otc_plugin* otc_plugin_entry_v1(const otc_host* host) {
  static otc_plugin copies[16];
  static unsigned calls;
  otc_plugin* copy = &copies[calls++ % 16];
  (void)host;
  *copy = kPlugin;
  return copy;
}
