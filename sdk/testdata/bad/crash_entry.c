/* Dies of a signal in its entry. */
#define BAD_ENTRY
#include "base.h"

const otc_plugin* otc_plugin_entry_v1(const otc_host* host) {
  volatile int* nowhere = (volatile int*)(uintptr_t)(host == NULL ? 16 : 8);
  *nowhere = 1;
  return &kPlugin;
}
