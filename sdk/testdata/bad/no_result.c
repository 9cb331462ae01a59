/* A unary slot that returns OK without a RESULT. */
#include "otc/plugin.h"
static int32_t Slot(void* self, const otc_call* call, otc_bytes request) {
  (void)self;
  (void)call;
  (void)request;
  return OTC_OK;
}
#define BAD_SLOT Slot
#include "balancer.h"
