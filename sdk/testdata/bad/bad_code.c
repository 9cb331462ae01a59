/* Returns a code that is not defined. */
#include "otc/plugin.h"
static int32_t Start(void* self, const otc_call* call, otc_bytes request) {
  (void)self;
  (void)call;
  (void)request;
  return 77;
}
#define BAD_START Start
#include "base.h"
