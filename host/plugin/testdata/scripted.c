/* A plugin whose slots do what its settings say, so that tests of the host can
 * make it behave in every good and bad way. Setting "<slot>" is a script: words
 * separated by blanks, done in order; see Do() for the words. Every slot first
 * logs "slot <name>". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "otc/plugin.h"

#define STR(text) ((otc_str){(text), strlen(text)})
#define GO_ON (-1000) /* a word that does not end the slot */

typedef struct instance {
  const otc_host* host;
  const otc_host_log_1* log;
  const otc_host_cloud_1* cloud;
  const otc_host_config_1* config;
  const otc_host_metrics_1* metrics;
  const otc_host_time_1* time;
  char* document;
  uint64_t metric;
} instance;

static void Log(const instance* self, const otc_call* call, const char* text) {
  self->log->write(self->host, call, OTC_LOG_INFO, STR(text), NULL, 0);
}

static void LogHex(const instance* self, const otc_call* call, const char* what, otc_bytes bytes) {
  const uint64_t prefix = strlen(what);
  char* text = malloc(prefix + 2 * bytes.len + 1);
  memcpy(text, what, prefix + 1);
  for (uint64_t i = 0; i < bytes.len; ++i) sprintf(text + prefix + 2 * i, "%02x", bytes.ptr[i]);
  Log(self, call, text);
  free(text);
}

static void LogNumber(const instance* self, const otc_call* call, const char* what, long number) {
  char text[128];
  snprintf(text, sizeof(text), "%s %ld", what, number);
  Log(self, call, text);
}

static uint8_t* FromHex(const char* hex, uint64_t* length) {
  *length = strlen(hex) / 2;
  uint8_t* bytes = malloc(*length + 1);
  for (uint64_t i = 0; i < *length; ++i) {
    const char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};
    bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
  }
  return bytes;
}

typedef struct put_context {
  const instance* self;
  const otc_call* call;
  int nested; /* call a service inside put, against the rules */
} put_context;

static void IgnorePut(void* context, otc_bytes record) {
  (void)context;
  (void)record;
}

static void Put(void* opaque, otc_bytes record) {
  const put_context* context = opaque;
  LogHex(context->self, context->call, "put ", record);
  if (context->nested) {
    const otc_sink sink = {NULL, IgnorePut};
    LogNumber(context->self, context->call, "nested",
              context->self->cloud->exchange(context->call, (otc_bytes){NULL, 0}, sink));
  }
}

static int32_t Emit(const otc_call* call, uint32_t kind, const char* hex) {
  uint64_t length;
  uint8_t* bytes = FromHex(hex, &length);
  const int32_t code = call->emit(call, kind, (otc_bytes){bytes, length});
  free(bytes);
  return code;
}

/* "14:Reason:message:1500" */
static int32_t Fail(const otc_call* call, char* text) {
  char* rest = text;
  const char* parts[4] = {"", "", "", ""};
  for (int i = 0; i < 4 && rest != NULL; ++i) parts[i] = strsep(&rest, ":");
  return call->fail(call, atoi(parts[0]), STR(parts[1]), STR(parts[2]),
                    strtoull(parts[3], NULL, 10));
}

static void Pause(void) {
  const struct timespec one_ms = {0, 1000000};
  nanosleep(&one_ms, NULL);
}

static int32_t Exchange(instance* self, const otc_call* call, const char* hex, int nested) {
  uint64_t length;
  uint8_t* bytes = FromHex(hex, &length);
  put_context context = {self, call, nested};
  const otc_sink sink = {&context, Put};
  const int32_t code = self->cloud->exchange(call, (otc_bytes){bytes, length}, sink);
  LogNumber(self, call, "exchange", code);
  free(bytes);
  return GO_ON;
}

static int32_t Record(instance* self, char* text) {
  char* label = strchr(text, ':');
  if (label != NULL) *label++ = 0;
  const otc_str value = STR(label != NULL ? label : "");
  self->metrics->record(self->host, self->metric, atof(text), &value, label != NULL ? 1 : 0);
  return GO_ON;
}

static int32_t EmitBig(const otc_call* call, uint64_t length) {
  uint8_t* bytes = calloc(1, length);
  call->emit(call, OTC_EMIT_RESULT, (otc_bytes){bytes, length});
  free(bytes);
  return GO_ON;
}

static int32_t Define(instance* self, const otc_call* call, const char* hex) {
  uint64_t length;
  uint8_t* bytes = FromHex(hex, &length);
  LogNumber(self, call, "define",
            self->metrics->define(self->host, (otc_bytes){bytes, length}, &self->metric));
  free(bytes);
  return GO_ON;
}

/* Does one word; GO_ON, or the code that the slot returns. */
static int32_t Do(instance* self, const otc_call* call, otc_bytes request, char* word) {
  char* value = strchr(word, '=');
  if (value != NULL) {
    *value++ = 0;
  } else {
    value = word + strlen(word);
  }
  if (!strcmp(word, "fail")) return Fail(call, value);
  if (!strcmp(word, "raw")) return atoi(value);
  if (!strcmp(word, "note")) return (void)Fail(call, value), GO_ON;
  if (!strcmp(word, "emit")) return (void)Emit(call, OTC_EMIT_RESULT, value), GO_ON;
  if (!strcmp(word, "event")) return (void)Emit(call, OTC_EMIT_EVENT, value), GO_ON;
  if (!strcmp(word, "unknown")) return LogNumber(self, call, "emit", Emit(call, 77, value)), GO_ON;
  if (!strcmp(word, "big")) return EmitBig(call, strtoull(value, NULL, 10));
  if (!strcmp(word, "exchange")) return Exchange(self, call, value, 0);
  if (!strcmp(word, "nested")) return Exchange(self, call, value, 1);
  if (!strcmp(word, "hang")) { /* until the file is there; ignores cancellation */
    while (access(value, F_OK) != 0) Pause();
    return GO_ON;
  }
  if (!strcmp(word, "untilcancel")) {
    while (call->cancelled(call) == 0) Pause();
    return call->cancelled(call);
  }
  if (!strcmp(word, "sleep")) {
    const uint64_t until =
        self->time->monotonic_ns(self->host) + strtoull(value, NULL, 10) * 1000000;
    LogNumber(self, call, "sleep", self->time->sleep_until(call, until));
    return GO_ON;
  }
  if (!strcmp(word, "before")) { /* UNAVAILABLE before this attempt */
    if (call->attempt >= (uint32_t)atoi(value)) return GO_ON;
    return call->fail(call, OTC_UNAVAILABLE, STR("NotYet"), STR("not yet"), 0);
  }
  if (!strcmp(word, "request")) return LogHex(self, call, "request ", request), GO_ON;
  if (!strcmp(word, "log")) return Log(self, call, value), GO_ON;
  if (!strcmp(word, "lines")) {
    for (int i = 0; i < atoi(value); ++i) Log(self, call, "line");
    return GO_ON;
  }
  if (!strcmp(word, "config")) {
    put_context context = {self, call, 0};
    const otc_sink sink = {&context, Put};
    LogNumber(self, call, "config", self->config->current(self->host, sink));
    return GO_ON;
  }
  if (!strcmp(word, "service")) {
    const int there = self->host->get_service(self->host, STR(value)) != NULL;
    return LogNumber(self, call, value, there), GO_ON;
  }
  if (!strcmp(word, "define")) return Define(self, call, value);
  if (!strcmp(word, "record")) return Record(self, value);
  if (!strcmp(word, "crash")) abort();
  return call->fail(call, OTC_INTERNAL, STR("BadScript"), STR(word), 0);
}

/* Runs the script that `document` holds for the slot. */
static int32_t Run(instance* self, const char* document, const char* slot, const otc_call* call,
                   otc_bytes request) {
  char key[64];
  snprintf(key, sizeof(key), "slot %s", slot);
  Log(self, call, key);
  snprintf(key, sizeof(key), "\"%s\":\"", slot);
  const char* at = strstr(document, key);
  if (at == NULL) return OTC_OK;
  char* script = strdup(at + strlen(key));
  *strchr(script, '"') = 0;
  int32_t code = GO_ON;
  char* rest = script;
  while (code == GO_ON && rest != NULL) {
    char* word = strsep(&rest, " ");
    if (*word != 0) code = Do(self, call, request, word);
  }
  free(script);
  return code == GO_ON ? OTC_OK : code;
}

static char* Copy(otc_bytes text) { return strndup((const char*)text.ptr, text.len); }

static const void* Service(const otc_host* host, const char* id) {
  return host->get_service(host, STR(id));
}

static int32_t Create(const otc_host* host, const otc_call* call, otc_bytes config, void** out) {
  instance* self = calloc(1, sizeof(*self));
  self->host = host;
  self->log = Service(host, "otc.host.log/1");
  self->cloud = Service(host, "otc.host.cloud/1");
  self->config = Service(host, "otc.host.config/1");
  self->metrics = Service(host, "otc.host.metrics/1");
  self->time = Service(host, "otc.host.time/1");
  self->document = Copy(config);
  const int32_t code = Run(self, self->document, "create", call, config);
  if (code != OTC_OK) {
    free(self->document);
    free(self);
    return code;
  }
  *out = self;
  return OTC_OK;
}

static int32_t Start(void* opaque, const otc_call* call, otc_bytes request) {
  instance* self = opaque;
  return Run(self, self->document, "start", call, request);
}

#ifndef NO_RECONFIGURE
static int32_t Reconfigure(void* opaque, const otc_call* call, otc_bytes config) {
  instance* self = opaque;
  char* document = Copy(config);
  const int32_t code = Run(self, document, "reconfigure", call, config);
  if (code == OTC_OK) {
    free(self->document);
    self->document = document;
  } else {
    free(document);
  }
  return code;
}
#endif

static int32_t Quiesce(void* opaque, const otc_call* call, otc_bytes request) {
  instance* self = opaque;
  return Run(self, self->document, "quiesce", call, request);
}

static void Destroy(void* opaque) {
  instance* self = opaque;
  Log(self, NULL, "slot destroy");
  free(self->document);
  free(self);
}

#ifndef NO_INTERFACES
static int32_t Describe(void* opaque, const otc_call* call, otc_bytes request) {
  instance* self = opaque;
  return Run(self, self->document, "describe", call, request);
}

static const otc_instances_v2_1 kInstances = {sizeof(otc_instances_v2_1), 0, Describe};
static const otc_interface kInterfaces[] = {{{"otc.instances-v2/1", 18}, &kInstances}};
#endif

#define LITERAL(text) \
  { text, sizeof(text) - 1 }

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
#ifndef NO_INTERFACES
    .interfaces = kInterfaces,
    .interface_count = 1,
#endif
    .create = Create,
    .start = Start,
#ifndef NO_RECONFIGURE
    .reconfigure = Reconfigure,
#endif
    .quiesce = Quiesce,
    .destroy = Destroy,
};

const otc_plugin* otc_plugin_entry_v1(const otc_host* host) {
  (void)host;
  return &kPlugin;
}
