/* Gives a reason that is no CamelCase word. */
#include "otc/plugin.h"
static int32_t Start(void* self, const otc_call* call, otc_bytes request) {
  const otc_str reason = {"it did not work", 15};
  const otc_str message = {"try again", 9};
  (void)self;
  (void)request;
  return call->fail(call, OTC_FAILED_PRECONDITION, reason, message, 0);
}
#define BAD_START Start
#include "base.h"
