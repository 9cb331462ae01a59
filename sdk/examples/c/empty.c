/* The smallest plugin: valid, provides nothing. Shows the shape in plain C. */
#include "otc/plugin.h"

#define LITERAL(text) \
  { (text), sizeof(text) - 1 }

/* An instance without state: any pointer will do. */
static int32_t Create(const otc_host* host, const otc_call* call, otc_bytes config, void** self) {
  (void)host;
  (void)call;
  (void)config;
  *self = NULL;
  return OTC_OK;
}

static int32_t Nothing(void* self, const otc_call* call, otc_bytes request) {
  (void)self;
  (void)call;
  (void)request;
  return OTC_OK;
}

static void Destroy(void* self) { (void)self; }

static const otc_plugin kPlugin = {
    .struct_size = sizeof(otc_plugin),
    .magic = OTC_PLUGIN_MAGIC,
    .abi_major = OTC_ABI_MAJOR,
    .abi_minor = OTC_ABI_MINOR,
    .id = LITERAL(OTC_PLUGIN_ID),
    .title = LITERAL(OTC_PLUGIN_TITLE),
    .vendor = LITERAL(OTC_PLUGIN_VENDOR),
    .version = LITERAL(OTC_PLUGIN_VERSION),
    .licence = LITERAL(OTC_PLUGIN_LICENCE),
    .create = Create,
    .start = Nothing,
    .quiesce = Nothing,
    .destroy = Destroy,
};

const otc_plugin* otc_plugin_entry_v1(const otc_host* host) {
  (void)host;
  return &kPlugin;
}
