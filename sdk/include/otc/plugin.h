/* otc/plugin.h: the C ABI between otc-host and its plugins, version 1.0. */
#ifndef OTC_PLUGIN_H_
#define OTC_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OTC_ABI_MAJOR 1u
#define OTC_ABI_MINOR 0u
#define OTC_PLUGIN_MAGIC 0x3150544Fu /* the bytes "OTP1" */

#define OTC_OK 0
#define OTC_CANCELLED 1
#define OTC_UNKNOWN 2
#define OTC_INVALID_ARGUMENT 3
#define OTC_DEADLINE_EXCEEDED 4
#define OTC_NOT_FOUND 5
#define OTC_ALREADY_EXISTS 6
#define OTC_PERMISSION_DENIED 7
#define OTC_RESOURCE_EXHAUSTED 8
#define OTC_FAILED_PRECONDITION 9
#define OTC_ABORTED 10
#define OTC_OUT_OF_RANGE 11
#define OTC_UNIMPLEMENTED 12
#define OTC_INTERNAL 13
#define OTC_UNAVAILABLE 14
#define OTC_DATA_LOSS 15
#define OTC_UNAUTHENTICATED 16
#define OTC_PENDING 100

#define OTC_CALL_DRY_RUN 0x1u

#define OTC_EMIT_RESULT 1u
#define OTC_EMIT_PLAN 2u
#define OTC_EMIT_EVENT 3u
#define OTC_EMIT_PROGRESS 4u

#define OTC_LOG_ERROR 1u
#define OTC_LOG_WARN 2u
#define OTC_LOG_INFO 3u
#define OTC_LOG_DEBUG 4u

#define OTC_GRPC_UNARY 1u
#define OTC_GRPC_SERVER_STREAM 2u
#define OTC_GRPC_INSTANT 0x1u


/* frozen */
typedef struct otc_str { const char *ptr; uint64_t len; } otc_str;
typedef struct otc_bytes { const uint8_t *ptr; uint64_t len; } otc_bytes;
typedef struct otc_kv { otc_str key; otc_str value; } otc_kv;
typedef struct otc_sink { void *ctx; void (*put)(void *ctx, otc_bytes record); } otc_sink;

typedef struct otc_call otc_call; typedef struct otc_host otc_host;
typedef int32_t (*otc_method)(void *self, const otc_call *call, otc_bytes request);
typedef struct otc_interface { otc_str id; const void *table; } otc_interface; /* frozen */
typedef struct otc_grpc_method { otc_str name; otc_method invoke; uint32_t kind; uint32_t flags; } otc_grpc_method; /* frozen */

struct otc_call {                 /* growing; made by the host */
  uint32_t struct_size; uint32_t flags; /* OTC_CALL_* */
  uint64_t call_id;               /* unique in this process, for logs */
  uint64_t deadline_ns;           /* absolute, clock of otc.host.time/1 */
  uint32_t attempt; uint32_t reserved0; /* attempt: 1, then +1 each time the same work is called again */
  otc_str request_id; otc_str traceparent; /* traceparent: W3C text or empty */
  int32_t (*cancelled)(const otc_call *call);
  int32_t (*emit)(const otc_call *call, uint32_t kind, otc_bytes record);
  int32_t (*fail)(const otc_call *call, int32_t code, otc_str reason, otc_str message, uint64_t retry_after_ms);
};
struct otc_host {                 /* growing; made by the host, one for each instance */
  uint32_t struct_size; uint16_t abi_major; uint16_t abi_minor;
  otc_str host_version;           /* for logs, never for decisions */
  otc_str role;                   /* "controllers", "csi-controller", "csi-node", "all" */
  otc_str plugin_id;
  const void *(*get_service)(const otc_host *host, otc_str id);
};
typedef struct otc_plugin {       /* growing; static data of the plugin */
  uint32_t struct_size; uint32_t magic;
  uint16_t abi_major; uint16_t abi_minor; uint32_t flags; /* flags: 0 in 1.0 */
  otc_str id; otc_str title; otc_str vendor;
  otc_str version; otc_str licence; /* semantic version; SPDX expression */
  const otc_interface *interfaces; uint64_t interface_count;
  int32_t (*create)(const otc_host *host, const otc_call *call, otc_bytes config, void **self);
  otc_method start;
  otc_method reconfigure;         /* may be NULL: the host destroys and creates instead */
  otc_method quiesce;
  void (*destroy)(void *self);
} otc_plugin;
/* interfaces: growing, static data of the plugin */
typedef struct otc_instances_v2_1 { uint32_t struct_size; uint32_t reserved0; otc_method describe; } otc_instances_v2_1;
typedef struct otc_load_balancer_1 { uint32_t struct_size; uint32_t reserved0; otc_method get; otc_method ensure; otc_method update; otc_method remove; } otc_load_balancer_1;
typedef struct otc_reconciler_1 { uint32_t struct_size; uint32_t reserved0; otc_method watches; otc_method reconcile; } otc_reconciler_1;
typedef struct otc_grpc_service_1 { uint32_t struct_size; uint32_t reserved0; const otc_grpc_method *methods; uint64_t method_count; } otc_grpc_service_1;
typedef otc_grpc_service_1 otc_csi_controller_1; /* same shape, own id: the id tells the host how to treat it */
typedef otc_grpc_service_1 otc_csi_node_1;
/* host services: growing, made by the host */
typedef struct otc_host_log_1 { uint32_t struct_size; uint32_t reserved0;
  int32_t (*enabled)(const otc_host *host, uint32_t level);
  void (*write)(const otc_host *host, const otc_call *call, uint32_t level, otc_str message, const otc_kv *fields, uint64_t field_count); } otc_host_log_1;
typedef struct otc_host_cloud_1 { uint32_t struct_size; uint32_t reserved0;
  int32_t (*exchange)(const otc_call *call, otc_bytes batch, otc_sink sink); } otc_host_cloud_1;
typedef struct otc_host_config_1 { uint32_t struct_size; uint32_t reserved0;
  int32_t (*current)(const otc_host *host, otc_sink sink); } otc_host_config_1;
typedef struct otc_host_metrics_1 { uint32_t struct_size; uint32_t reserved0;
  int32_t (*define)(const otc_host *host, otc_bytes definition, uint64_t *handle);
  void (*record)(const otc_host *host, uint64_t handle, double value, const otc_str *label_values, uint64_t label_count); } otc_host_metrics_1;
typedef struct otc_host_kube_1 { uint32_t struct_size; uint32_t reserved0;
  int32_t (*read)(const otc_call *call, otc_bytes request, otc_sink sink);
  int32_t (*write)(const otc_call *call, otc_bytes request, otc_sink sink); } otc_host_kube_1;
typedef struct otc_host_time_1 { uint32_t struct_size; uint32_t reserved0;
  uint64_t (*monotonic_ns)(const otc_host *host);
  int64_t (*unix_ns)(const otc_host *host);
  int32_t (*sleep_until)(const otc_call *call, uint64_t monotonic_ns); } otc_host_time_1;
typedef struct otc_host_exec_1 { uint32_t struct_size; uint32_t reserved0;
  int32_t (*run)(const otc_call *call, otc_bytes request, otc_sink sink); } otc_host_exec_1;

#define OTC_HAS(type, ptr, slot) ((ptr)->struct_size >= offsetof(type, slot) + sizeof((ptr)->slot) && (ptr)->slot != NULL)
#define OTC_HAS_FIELD(type, ptr, field) ((ptr)->struct_size >= offsetof(type, field) + sizeof((ptr)->field))

#define OTC_MANIFEST(text) /* once in a plugin, at file scope; §9 */ \
  static const struct otc_note_ { uint32_t namesz, descsz, type; char name[4]; char desc[(sizeof(text) + 3u) & ~(size_t)3u]; } \
  otc_note_ __attribute__((section(".note.otc"), used, aligned(4))) = {4u, (uint32_t)sizeof(text), 1u, "OTC", text}

__attribute__((visibility("default"))) const otc_plugin *otc_plugin_entry_v1(const otc_host *host);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OTC_PLUGIN_H_ */
