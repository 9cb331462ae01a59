/* A unary slot whose RESULT is not the response message. */
#include "otc/plugin.h"
static int32_t Slot(void* self, const otc_call* call, otc_bytes request) {
  static const uint8_t kGarbage[] = {0x0A, 0xFF, 0xFF, 0x03, 0x01};
  const otc_bytes record = {kGarbage, sizeof(kGarbage)};
  (void)self;
  (void)request;
  call->emit(call, OTC_EMIT_RESULT, record);
  return OTC_OK;
}
#define BAD_SLOT Slot
#include "balancer.h"
