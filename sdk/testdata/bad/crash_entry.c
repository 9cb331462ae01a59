/* Dies of a signal in its entry. */
#define BAD_ENTRY
#include "base.h"

/* The compiler may not know the address: it would refuse to build this. */
static volatile uintptr_t address = 8;

const otc_plugin* otc_plugin_entry_v1(const otc_host* host) {
  (void)host;
  *(volatile int*)address = 1;
  return &kPlugin;
}
