/* Writes to standard output while it is loaded. */
#include <stdio.h>
__attribute__((constructor)) static void Print(void) {
  puts("hello from a constructor");
  fflush(stdout);
}
#include "base.h"
