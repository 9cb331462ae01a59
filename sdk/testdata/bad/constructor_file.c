/* Opens a file while it is loaded and keeps it. */
#include <fcntl.h>
__attribute__((constructor)) static void Open(void) {
  if (open("/dev/null", O_RDONLY) < 0) return;
}
#include "base.h"
