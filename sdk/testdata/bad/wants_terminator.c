/* Takes the configuration for a C string. */
#include <string.h>

#include "otc/plugin.h"
static int32_t Create(const otc_host* host, const otc_call* call, otc_bytes config, void** self) {
  (void)host;
  (void)call;
  *self = (void*)(uintptr_t)(config.ptr == NULL ? 0 : strlen((const char*)config.ptr));
  return OTC_OK;
}
#define BAD_CREATE Create
#include "base.h"
