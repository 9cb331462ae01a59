/* otc/plugin.h: the C ABI between otc-host and its plugins, version 1.0.
 *
 * A plugin is an ELF shared object <id>.so with one exported function, the entry
 * at the end of this file. The entry returns a static descriptor (otc_plugin);
 * the descriptor lists interfaces, tables of slots that the host calls. What a
 * plugin may ask of the host, it gets as tables too: otc_host.get_service.
 * docs/reference/plugin-abi.md is the reference, docs/guides/write-a-plugin.md
 * the way in; otc/cpp/plugin.h does most of this for C++ authors, and
 * otc-plugin-check judges the result.
 *
 * CONVENTIONS, stated once
 *
 * Platform. Linux, ELF, little-endian LP64 (x86-64, aarch64), the platform's C
 * calling convention. Compiles as C11 and C++17.
 *
 * Lifetime, one rule in both directions: data passed as an argument may be read
 * until the function that it was passed to returns, not longer. There is no
 * free. Results travel as arguments too: to the host by call->emit, to the
 * plugin by sink.put. Static data (descriptor, tables, ids, method lists) lives
 * as long as the process.
 *
 * Strings are UTF-8 with a length, have no NUL inside and none promised behind
 * them; len == 0 allows ptr == NULL. Limits in bytes: id 63, reason 63, message
 * 1,024, log line 16,384, one record 16 MiB, all records of one call 64 MiB.
 *
 * Payloads are protobuf (proto3) messages of package otc.plugin.v1, or the
 * untouched bytes of a gRPC message. A request may come as concatenated parts of
 * one message, which is legal protobuf. Unknown fields, enum values and flag
 * bits are ignored. Times in payloads are Unix milliseconds.
 *
 * Structs are of two kinds. FROZEN ones never change and may be copied and put
 * in arrays. GROWING ones start with struct_size, only ever gain members at the
 * end, are allocated by the side that defines them, are never copied, and are
 * read through OTC_HAS / OTC_HAS_FIELD as far as they go beyond version 1.0.
 *
 * Codes. A slot returns OTC_OK, a gRPC code with gRPC's number, or OTC_PENDING:
 * nothing is wrong and nothing is lost, call again later. Every code but OTC_OK
 * goes through call->fail, which takes the reason: a stable word,
 * [A-Z][A-Za-z0-9]{2,62}, listed in the plugin's README. Nothing is thrown or
 * longjmp-ed out of a slot; an exception caught at the border becomes
 * OTC_UNKNOWN with reason PluginException.
 *
 * Results. A unary slot that returns OTC_OK has emitted exactly one RESULT.
 *
 * Threads. Each slot carries a tag that says on which thread it may run:
 *   [entry]    the thread that loads the plugin
 *   [control]  one host thread at a time for an instance, while no [worker] slot
 *              of that instance runs
 *   [worker]   any host worker thread, in parallel with other [worker] slots of
 *              the same instance
 *   [in-call]  any thread, from the start until the return of the slot that was
 *              given this call
 *   [any]      any thread, from the call of create until destroy returns
 * The slots of the descriptor and of the interfaces are called by the host only,
 * the others by the plugin only.
 *
 * Trust. A plugin runs with all rights of the process. The rules here prevent
 * accidents, not attacks.
 */
#ifndef OTC_PLUGIN_H_
#define OTC_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A file with another major is refused; a minor only adds at the ends. */
#define OTC_ABI_MAJOR 1u
#define OTC_ABI_MINOR 0u
#define OTC_PLUGIN_MAGIC 0x3150544Fu /* the bytes "OTP1" */

/* Codes: gRPC's, with gRPC's numbers, and one of our own. */
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
/* Call again later (after retry_after_ms, or 5 s). All memory of the work is in
 * the cloud or the cluster: the next call may come after a restart, on another
 * replica, or never. Never a way to hide an error. */
#define OTC_PENDING 100

/* otc_call.flags: decide and emit PLAN records, then stop with OTC_OK; write
 * nothing (the host refuses writes in such a call). */
#define OTC_CALL_DRY_RUN 0x1u

/* Kinds of records for emit. Unknown kinds are counted and dropped. */
#define OTC_EMIT_RESULT 1u   /* the slot's response message */
#define OTC_EMIT_PLAN 2u     /* PlanRecord: one intended step, before anything is done */
#define OTC_EMIT_EVENT 3u    /* EventRecord: a Kubernetes event on the subject of the call */
#define OTC_EMIT_PROGRESS 4u /* Progress: what is being waited for; replaces the last one */

#define OTC_LOG_ERROR 1u
#define OTC_LOG_WARN 2u
#define OTC_LOG_INFO 3u
#define OTC_LOG_DEBUG 4u

/* otc_grpc_method.kind and .flags. INSTANT: answers from memory within 50 ms,
 * without any service; runs on reserved threads, never behind other calls. */
#define OTC_GRPC_UNARY 1u
#define OTC_GRPC_SERVER_STREAM 2u
#define OTC_GRPC_INSTANT 0x1u

/* ---- Frozen structs ---------------------------------------------------- */

/* Text: UTF-8, not terminated. */
typedef struct otc_str {
  const char* ptr;
  uint64_t len;
} otc_str;

/* Bytes of a payload. */
typedef struct otc_bytes {
  const uint8_t* ptr;
  uint64_t len;
} otc_bytes;

/* A field of a log line. */
typedef struct otc_kv {
  otc_str key;
  otc_str value;
} otc_kv;

/* Where a host service puts its results. */
typedef struct otc_sink {
  /* The plugin's own; handed back to put. */
  void* ctx;
  /* [in-call] Called by the host on the thread that called the service, before
   * the service returns, once for each record. Inside it only emit, fail,
   * cancelled and log.write may be called. */
  void (*put)(void* ctx, otc_bytes record);
} otc_sink;

typedef struct otc_call otc_call;
typedef struct otc_host otc_host;

/* The one shape of every interface slot. `self` is what create gave; `request`
 * is the request message. Returns a code. */
typedef int32_t (*otc_method)(void* self, const otc_call* call, otc_bytes request);

/* An interface that a plugin offers. The id tells the type of the table:
 * "otc.instances-v2/1" is an otc_instances_v2_1. Ids of third parties begin with
 * a reversed domain ("com.example.thing/1"); ids under trial end in "/draft-N"
 * and promise nothing. Unknown ids are listed by the host and ignored. */
typedef struct otc_interface {
  otc_str id;
  const void* table;
} otc_interface;

/* A gRPC method that a plugin serves. */
typedef struct otc_grpc_method {
  /* The HTTP/2 path, "/csi.v1.Controller/CreateVolume"; exact match. */
  otc_str name;
  /* [worker] client's deadline - 500 ms, at most 10 min, 120 s if none. Request
   * bytes in, message bytes out: one RESULT (unary) or any number (stream). No
   * call is serialised; the plugin keeps its own locks and answers ABORTED when
   * one is held. */
  otc_method invoke;
  /* OTC_GRPC_UNARY or OTC_GRPC_SERVER_STREAM. */
  uint32_t kind;
  /* OTC_GRPC_INSTANT or 0. */
  uint32_t flags;
} otc_grpc_method;

/* ---- The call ---------------------------------------------------------- */

/* One call of a slot. Growing; made by the host; valid until the slot returns. */
struct otc_call {
  uint32_t struct_size;
  /* OTC_CALL_* bits. */
  uint32_t flags;
  /* Unique in this process; for logs. */
  uint64_t call_id;
  /* Absolute, clock of otc.host.time/1. The slot returns before it. */
  uint64_t deadline_ns;
  /* 1, then one more each time the same work is called again. */
  uint32_t attempt;
  uint32_t reserved0;
  /* Names the work in logs and at the cloud. */
  otc_str request_id;
  /* W3C trace context, or empty. */
  otc_str traceparent;
  /* [in-call] 0 while somebody waits for the result; then CANCELLED or
   * DEADLINE_EXCEEDED for good. Asks for a return within 1 s; undoes nothing.
   * Takes no lock: ask as often as you like. */
  int32_t (*cancelled)(const otc_call* call);
  /* [in-call] Hands a record to the host, which copies it before it returns. OK;
   * CANCELLED: nobody listens any more, stop; RESOURCE_EXHAUSTED: over a limit,
   * the call has failed. On a server stream it may block for flow control. */
  int32_t (*emit)(const otc_call* call, uint32_t kind, otc_bytes record);
  /* [in-call] Records why the slot is about to return `code`, and returns it, so
   * that a slot can end with `return call->fail(...)`. The last one counts, and
   * only if its code is the one returned. `message` is one line for a human: what
   * was tried, the cloud's code and request id; no secrets, no payloads.
   * `retry_after_ms` > 0 replaces the host's delay once. fail(OTC_OK) is a bug. */
  int32_t (*fail)(const otc_call* call, int32_t code, otc_str reason, otc_str message,
                  uint64_t retry_after_ms);
};

/* ---- The host ---------------------------------------------------------- */

/* The host as one instance sees it. Growing; made by the host, one for each
 * instance; lives until destroy returns. */
struct otc_host {
  uint32_t struct_size;
  uint16_t abi_major;
  uint16_t abi_minor;
  /* For logs, never for decisions. */
  otc_str host_version;
  /* "controllers", "csi-controller", "csi-node" or "all". */
  otc_str role;
  otc_str plugin_id;
  /* [any] The table of a host service, or NULL: unknown id, not offered in this
   * role, or not named in the manifest. Look services up once, in create. */
  const void* (*get_service)(const otc_host* host, otc_str id);
};

/* ---- The plugin -------------------------------------------------------- */

/* The descriptor. Growing; static data of the plugin. */
typedef struct otc_plugin {
  uint32_t struct_size;
  uint32_t magic; /* OTC_PLUGIN_MAGIC */
  uint16_t abi_major;
  uint16_t abi_minor;
  uint32_t flags; /* 0 in 1.0 */
  /* The file's name without ".so": [a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])? */
  otc_str id;
  otc_str title;
  otc_str vendor;
  otc_str version; /* semantic version */
  otc_str licence; /* SPDX expression */
  const otc_interface* interfaces;
  uint64_t interface_count;
  /* [control] 5 s. Parses `config`, one JSON object, looks up services and sets
   * *self (any value, NULL included). No cloud, no network, no threads. On
   * another code than OK nothing is left behind and destroy is not called.
   * FAILED_PRECONDITION with reason NotConfigured means "switched off by
   * configuration". May be called for several instances: no mutable globals. */
  int32_t (*create)(const otc_host* host, const otc_call* call, otc_bytes config, void** self);
  /* [control] 30 s. Empty request. May read the cloud, must not write to it:
   * every replica starts, only the leader works. Own threads, if the manifest
   * declares them, begin here. UNAVAILABLE is tried again with back-off, another
   * code means that the plugin failed. */
  otc_method start;
  /* [control] 5 s. The request is the new configuration. All or nothing: on an
   * error the old one stays in force. May be NULL: the host then destroys the
   * instance and creates a new one. */
  otc_method reconfigure;
  /* [control] 10 s. Calls have ended. Ends own threads: after the return none
   * runs. Final: next comes destroy. */
  otc_method quiesce;
  /* [control] 5 s. Frees self. Never called while a slot of the instance runs. */
  void (*destroy)(void* self);
} otc_plugin;

/* ---- Interfaces: growing, static data of the plugin --------------------- */

/* otc.instances-v2/1: what the cloud knows of the servers behind nodes. */
typedef struct otc_instances_v2_1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* [worker] 60 s. InstanceDescribeRequest → one InstanceDescribeResult for each
   * node, in any order, as they become known. A node without a result is UNKNOWN.
   * Results count even if the slot returns an error (here only). GONE needs a
   * proof from this call; any doubt is UNKNOWN. Sends no WRITE. At most two run
   * at once for an instance. */
  otc_method describe;
} otc_instances_v2_1;

/* otc.load-balancer/1 (draft-1 until the balancer is done): LoadBalancerRequest →
 * LoadBalancerResult in every slot. One call at a time for a Service. */
typedef struct otc_load_balancer_1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* [worker] 30 s. Reads only. Absent is OK with exists = false. exists stays true
   * while anything that we own for this Service is left. */
  otc_method get;
  /* [worker] 60 s. Creates or converges; idempotent; safe to die after any cloud
   * call. OK needs exists = true and an ingress; address not known yet = PENDING.
   * No change needed = no write. PLAN records come before the first write. */
  otc_method ensure;
  /* [worker] 60 s. Members only. Missing balancer: OK, exists = false. Empty node
   * list with nodes_confirmed = false: change nothing, answer PENDING. */
  otc_method update;
  /* [worker] 60 s. OK when nothing of ours is left; "not found" on the way is
   * progress. Never removes what we do not own. */
  otc_method remove;
} otc_load_balancer_1;

/* otc.reconciler/1 (draft-1): a controller for any Kubernetes resource. */
typedef struct otc_reconciler_1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* [control] 5 s. Called once after start; one WatchDeclaration a resource. */
  otc_method watches;
  /* [worker] 60 s. ReconcileRequest → one ReconcileResult. Level-triggered: look
   * at the state, not at what happened. One call at a time for an object. */
  otc_method reconcile;
} otc_reconciler_1;

/* otc.grpc-service/1: methods served on the plugin's own socket. What is not
 * listed gets UNIMPLEMENTED from the host. */
typedef struct otc_grpc_service_1 {
  uint32_t struct_size;
  uint32_t reserved0;
  const otc_grpc_method* methods;
  uint64_t method_count;
} otc_grpc_service_1;

/* otc.csi-controller/1 and otc.csi-node/1: the same shape, own ids; the id tells
 * the host how to treat them. */
typedef otc_grpc_service_1 otc_csi_controller_1;
typedef otc_grpc_service_1 otc_csi_node_1;

/* ---- Host services: growing, made by the host --------------------------- */

/* otc.host.log/1 */
typedef struct otc_host_log_1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* [any] Non-zero if a line of this level would be kept. */
  int32_t (*enabled)(const otc_host* host, uint32_t level);
  /* [any] Writes a line with at most 32 fields. `call` may be NULL; with it the
   * host adds request id, plugin and subject. Never blocks; above 1,000 lines a
   * second for a plugin it drops and counts. */
  void (*write)(const otc_host* host, const otc_call* call, uint32_t level, otc_str message,
                const otc_kv* fields, uint64_t field_count);
} otc_host_log_1;

/* otc.host.cloud/1: HTTP requests to OTC services. */
typedef struct otc_host_cloud_1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* [in-call] CloudBatch → one CloudResponse in the sink for each request, in
   * order of completion, whatever the HTTP status; then OK. Another code: put was
   * never called (malformed batch, service not in cloud=, dry-run write,
   * cancelled before the start). The host adds endpoint, project, signature,
   * throttling and safe retries. Outcome UNCLEAR: the cloud may have done it; look
   * before you repeat. Returns within 1 s of a cancellation. */
  int32_t (*exchange)(const otc_call* call, otc_bytes batch, otc_sink sink);
} otc_host_cloud_1;

/* otc.host.config/1 */
typedef struct otc_host_config_1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* [any] Puts the document last accepted by create or reconfigure, once. */
  int32_t (*current)(const otc_host* host, otc_sink sink);
} otc_host_config_1;

/* otc.host.metrics/1 */
typedef struct otc_host_metrics_1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* [any] MetricDefinition → handle. The host puts otc_plugin_<id>_ before the
   * name. The same definition twice gives the same handle, a different one under
   * the same name ALREADY_EXISTS. */
  int32_t (*define)(const otc_host* host, otc_bytes definition, uint64_t* handle);
  /* [any] A counter adds, a gauge sets, a histogram observes. As many label
   * values as the definition has names; above 200 label sets the metric drops and
   * counts. */
  void (*record)(const otc_host* host, uint64_t handle, double value, const otc_str* label_values,
                 uint64_t label_count);
} otc_host_metrics_1;

/* otc.host.kube/1 (draft-1): what a kube= line of the manifest allows. */
typedef struct otc_host_kube_1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* [in-call] KubeRead → a KubeObject; without a name one for each object. */
  int32_t (*read)(const otc_call* call, otc_bytes request, otc_sink sink);
  /* [in-call] KubeWrite → the KubeObject as it is now. */
  int32_t (*write)(const otc_call* call, otc_bytes request, otc_sink sink);
} otc_host_kube_1;

/* otc.host.time/1: the only clock for decisions; tests drive it. */
typedef struct otc_host_time_1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* [any] Never goes back; the clock of deadlines. */
  uint64_t (*monotonic_ns)(const otc_host* host);
  /* [any] Nanoseconds since 1970. */
  int64_t (*unix_ns)(const otc_host* host);
  /* [in-call] Holds a worker: for more than moments answer PENDING instead. OK, or
   * the code of cancelled. */
  int32_t (*sleep_until)(const otc_call* call, uint64_t monotonic_ns);
} otc_host_time_1;

/* otc.host.exec/1: mkfs, fsck and the like, as named in exec= and host.yaml. */
typedef struct otc_host_exec_1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* [in-call] ExecRequest → one ExecResult and OK when finished. Still running
   * after wait_ms, or cancelled: PENDING, and the process goes on; the next run
   * with the same key joins it. No shell, fixed PATH, LC_ALL=C. */
  int32_t (*run)(const otc_call* call, otc_bytes request, otc_sink sink);
} otc_host_exec_1;

/* ---- Helpers ------------------------------------------------------------ */

/* Whether a growing struct goes far enough to have a slot, and has it set. */
#define OTC_HAS(type, ptr, slot) \
  ((ptr)->struct_size >= offsetof(type, slot) + sizeof((ptr)->slot) && (ptr)->slot != NULL)

/* Whether a growing struct goes far enough to have a field. */
#define OTC_HAS_FIELD(type, ptr, field) \
  ((ptr)->struct_size >= offsetof(type, field) + sizeof((ptr)->field))

/* The manifest, once in a plugin, at file scope: text of lines key=value, which
 * becomes an ELF note that the host reads before any code runs. */
#define OTC_MANIFEST(text)                                                \
  static const struct otc_note_ {                                         \
    uint32_t namesz, descsz, type;                                        \
    char name[4];                                                         \
    char desc[(sizeof(text) + 3u) & ~(size_t)3u];                         \
  } otc_note_ __attribute__((section(".note.otc"), used, aligned(4))) = { \
      4u, (uint32_t)sizeof(text), 1u, "OTC", text}

/* [entry] The only symbol that a plugin exports. Returns the descriptor, the same
 * pointer each time, or NULL: "refuses this host" (a refusal with a reason belongs
 * in create). Reads at most the numbers in `host`, whose object need not be the
 * one that create gets; touches nothing else: no allocation, thread, file,
 * environment, service. May be called more than once. */
__attribute__((visibility("default"))) const otc_plugin* otc_plugin_entry_v1(const otc_host* host);

#ifdef __cplusplus
} /* extern "C" */
#endif

#include "otc/plugin_layout.h"

#endif /* OTC_PLUGIN_H_ */
