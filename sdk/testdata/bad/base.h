/* A correct plugin, of which each file here spoils one thing by a macro before
 * including this. */
#ifndef OTC_TESTDATA_BAD_BASE_H_
#define OTC_TESTDATA_BAD_BASE_H_

#include "otc/plugin.h"

#define LITERAL(text) \
  { (text), sizeof(text) - 1 }

static inline otc_str Text(const char* text) {
  otc_str out = {text, 0};
  while (text[out.len] != '\0') ++out.len;
  return out;
}

static inline int32_t GoodCreate(const otc_host* host, const otc_call* call, otc_bytes config,
                                 void** self) {
  (void)host;
  (void)call;
  (void)config;
  *self = NULL;
  return OTC_OK;
}

static inline int32_t GoodSlot(void* self, const otc_call* call, otc_bytes request) {
  (void)self;
  (void)call;
  (void)request;
  return OTC_OK;
}

static inline void GoodDestroy(void* self) { (void)self; }

#ifndef BAD_STRUCT_SIZE
#define BAD_STRUCT_SIZE sizeof(otc_plugin)
#endif
#ifndef BAD_MAGIC
#define BAD_MAGIC OTC_PLUGIN_MAGIC
#endif
#ifndef BAD_MAJOR
#define BAD_MAJOR OTC_ABI_MAJOR
#endif
#ifndef BAD_VERSION
#define BAD_VERSION "1.0.0"
#endif
#ifndef BAD_TITLE
#define BAD_TITLE "A plugin with one fault"
#endif
#ifndef BAD_CREATE
#define BAD_CREATE GoodCreate
#endif
#ifndef BAD_START
#define BAD_START GoodSlot
#endif
#ifndef BAD_INTERFACES
#define BAD_INTERFACES NULL
#define BAD_INTERFACE_COUNT 0
#endif

static const otc_plugin kPlugin = {
    .struct_size = BAD_STRUCT_SIZE,
    .magic = BAD_MAGIC,
    .abi_major = BAD_MAJOR,
    .abi_minor = OTC_ABI_MINOR,
    .id = LITERAL(OTC_PLUGIN_ID),
    .title = LITERAL(BAD_TITLE),
    .vendor = LITERAL("otc-host"),
    .version = LITERAL(BAD_VERSION),
    .licence = LITERAL("Apache-2.0"),
    .interfaces = BAD_INTERFACES,
    .interface_count = BAD_INTERFACE_COUNT,
    .create = BAD_CREATE,
    .start = BAD_START,
    .quiesce = GoodSlot,
    .destroy = GoodDestroy,
};

#ifndef BAD_ENTRY
const otc_plugin* otc_plugin_entry_v1(const otc_host* host) {
  (void)host;
  return &kPlugin;
}
#endif

#endif /* OTC_TESTDATA_BAD_BASE_H_ */
