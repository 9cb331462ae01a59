/* A balancer that writes in every slot, without a plan and in dry runs too. */
#include "otc/plugin.h"

/* CloudBatch{requests: {service: "elb", method: "DELETE", path: "/v1", effect: WRITE}} */
static const uint8_t kBatch[] = {0x0A, 0x14, 0x0A, 0x03, 'e',  'l',  'b', 0x12, 0x06, 'D',  'E',
                                 'L',  'E',  'T',  'E',  0x1A, 0x03, '/', 'v',  '1',  0x38, 0x02};

static void Ignore(void* ctx, otc_bytes record) {
  (void)ctx;
  (void)record;
}

static int32_t Create(const otc_host* host, const otc_call* call, otc_bytes config, void** self) {
  const otc_str id = {"otc.host.cloud/1", 16};
  (void)call;
  (void)config;
  *self = (void*)(uintptr_t)host->get_service(host, id);
  return OTC_OK;
}

static int32_t Slot(void* self, const otc_call* call, otc_bytes request) {
  const otc_host_cloud_1* cloud = self;
  const otc_bytes batch = {kBatch, sizeof(kBatch)};
  const otc_bytes empty = {NULL, 0};
  const otc_sink sink = {NULL, Ignore};
  (void)request;
  cloud->exchange(call, batch, sink);
  call->emit(call, OTC_EMIT_RESULT, empty);
  return OTC_OK;
}
#define BAD_CREATE Create
#define BAD_SLOT Slot
#include "balancer.h"
