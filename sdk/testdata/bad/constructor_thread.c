/* Starts a thread while it is loaded. */
#include <pthread.h>
#include <unistd.h>
static void* Sleep(void* unused) {
  for (;;) pause();
  return unused;
}
__attribute__((constructor)) static void Start(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, Sleep, NULL);
}
#include "base.h"
