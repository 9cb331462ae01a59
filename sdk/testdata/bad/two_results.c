/* A unary slot that gives two RESULTs. */
#include "otc/plugin.h"
static int32_t Slot(void* self, const otc_call* call, otc_bytes request) {
  const otc_bytes empty = {NULL, 0};
  (void)self;
  (void)request;
  call->emit(call, OTC_EMIT_RESULT, empty);
  call->emit(call, OTC_EMIT_RESULT, empty);
  return OTC_OK;
}
#define BAD_SLOT Slot
#include "balancer.h"
