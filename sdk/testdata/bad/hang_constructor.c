/* Never comes back from being loaded. */
#include <unistd.h>
__attribute__((constructor)) static void Hang(void) {
  for (;;) pause();
}
#include "base.h"
