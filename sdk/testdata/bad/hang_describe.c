/* Never comes back from a worker slot. */
#include <unistd.h>

#include "otc/plugin.h"
static int32_t Describe(void* self, const otc_call* call, otc_bytes request) {
  (void)self;
  (void)call;
  (void)request;
  for (;;) pause();
  return OTC_OK;
}
static const otc_instances_v2_1 kTable = {sizeof(otc_instances_v2_1), 0, Describe};
static const otc_interface kInterfaces[] = {{{"otc.instances-v2/1", 18}, &kTable}};
#define BAD_INTERFACES kInterfaces
#define BAD_INTERFACE_COUNT 1
#include "base.h"
