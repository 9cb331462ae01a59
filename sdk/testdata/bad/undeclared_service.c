/* Refuses to work without a service that its note does not name. */
#include "otc/plugin.h"
static int32_t Create(const otc_host* host, const otc_call* call, otc_bytes config, void** self) {
  const otc_str id = {"otc.host.cloud/1", 16};
  (void)call;
  (void)config;
  *self = (void*)(uintptr_t)host->get_service(host, id);
  return OTC_OK;
}
#define BAD_CREATE Create
#include "base.h"
