/* A draft interface, but the title does not say so. */
#include "otc/plugin.h"
static int32_t Slot(void* self, const otc_call* call, otc_bytes request) {
  (void)self;
  (void)call;
  (void)request;
  return OTC_OK;
}
static const otc_reconciler_1 kTable = {sizeof(otc_reconciler_1), 0, Slot, Slot};
static const otc_interface kInterfaces[] = {{{"com.example.thing/draft-1", 25}, &kTable}};
#define BAD_INTERFACES kInterfaces
#define BAD_INTERFACE_COUNT 1
#include "base.h"
