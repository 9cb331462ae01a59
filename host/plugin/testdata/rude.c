/* Plugins that misbehave while they are loaded, in ways that a probe's parent
 * must survive: one macro each. They are good plugins otherwise. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "otc/plugin.h"

__attribute__((constructor)) static void OnLoad(void) {
#if defined(RUDE_FLOOD) /* megabytes on every stream that there is */
  static char noise[65536];
  memset(noise, 'x', sizeof(noise));
  for (int i = 0; i < 64; ++i) {
    for (int fd = 1; fd <= 3; ++fd) {
      if (write(fd, noise, sizeof(noise)) < 0) continue;
    }
  }
#elif defined(RUDE_FORGE) /* something like a verdict, then a good exit code */
  const char text[] = "otc-probe 00000000-0000-4000-8000-000000000000 OK\n";
  if (write(3, text, sizeof(text) - 1) < 0) abort();
  _exit(0);
#elif defined(RUDE_FORK)  /* a grandchild that keeps the pipes open */
  if (fork() == 0) {
    signal(SIGTERM, SIG_IGN);
    sleep(600);
    _exit(0);
  }
#elif defined(RUDE_ABORT)
  fputs("rude: invariant broken\n", stderr);
  abort();
#endif
}

__attribute__((destructor)) static void OnUnload(void) {
#if defined(RUDE_DESTRUCTOR) /* must never run in the probe */
  abort();
#endif
}

static int32_t Create(const otc_host* host, const otc_call* call, otc_bytes config, void** self) {
  (void)host, (void)call, (void)config;
  *self = NULL;
  return OTC_OK;
}

static int32_t Nothing(void* self, const otc_call* call, otc_bytes request) {
  (void)self, (void)call, (void)request;
  return OTC_OK;
}

static void Destroy(void* self) { (void)self; }

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
    .create = Create,
    .start = Nothing,
    .quiesce = Nothing,
    .destroy = Destroy,
};

const otc_plugin* otc_plugin_entry_v1(const otc_host* host) {
  (void)host;
  return &kPlugin;
}
