/* Returns an error without saying why. */
#include "otc/plugin.h"
static int32_t Start(void* self, const otc_call* call, otc_bytes request) {
  (void)self;
  (void)call;
  (void)request;
  return OTC_FAILED_PRECONDITION;
}
#define BAD_START Start
#include "base.h"
