/* Reports success as a failure. */
#include "otc/plugin.h"
static int32_t Start(void* self, const otc_call* call, otc_bytes request) {
  const otc_str reason = {"AllIsWell", 9};
  const otc_str message = {"nothing is wrong", 16};
  (void)self;
  (void)request;
  return call->fail(call, OTC_OK, reason, message, 0);
}
#define BAD_START Start
#include "base.h"
