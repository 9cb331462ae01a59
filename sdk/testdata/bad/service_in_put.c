/* Calls a service while the host is inside its sink. */
#include "otc/plugin.h"

/* CloudBatch{requests: {service: "ecs", method: "GET", path: "/v1", effect: READ}} */
static const uint8_t kBatch[] = {0x0A, 0x11, 0x0A, 0x03, 'e', 'c', 's', 0x12, 0x03, 'G',
                                 'E',  'T',  0x1A, 0x03, '/', 'v', '1', 0x38, 0x01};

struct State {
  const otc_host_cloud_1* cloud;
  const otc_call* call;
};

static void Ignore(void* ctx, otc_bytes record) {
  (void)ctx;
  (void)record;
}

static void AskAgain(void* ctx, otc_bytes record) {
  const struct State* state = ctx;
  const otc_bytes batch = {kBatch, sizeof(kBatch)};
  const otc_sink sink = {NULL, Ignore};
  (void)record;
  state->cloud->exchange(state->call, batch, sink);
}

static int32_t Create(const otc_host* host, const otc_call* call, otc_bytes config, void** self) {
  const otc_str id = {"otc.host.cloud/1", 16};
  (void)call;
  (void)config;
  *self = (void*)(uintptr_t)host->get_service(host, id);
  return OTC_OK;
}

static int32_t Describe(void* self, const otc_call* call, otc_bytes request) {
  struct State state = {self, call};
  const otc_bytes batch = {kBatch, sizeof(kBatch)};
  const otc_sink sink = {&state, AskAgain};
  (void)request;
  state.cloud->exchange(call, batch, sink);
  return OTC_OK;
}

static const otc_instances_v2_1 kTable = {sizeof(otc_instances_v2_1), 0, Describe};
static const otc_interface kInterfaces[] = {{{"otc.instances-v2/1", 18}, &kTable}};
#define BAD_CREATE Create
#define BAD_INTERFACES kInterfaces
#define BAD_INTERFACE_COUNT 1
#include "base.h"
