/* Ends the process with success in its entry. */
#include <stdlib.h>
#define BAD_ENTRY
#include "base.h"

const otc_plugin* otc_plugin_entry_v1(const otc_host* host) {
  if (host != NULL) exit(0);
  return &kPlugin;
}
