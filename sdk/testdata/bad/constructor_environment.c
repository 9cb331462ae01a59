/* Changes the environment while it is loaded. */
#include <stdlib.h>
__attribute__((constructor)) static void Set(void) { setenv("OTC_BAD_PLUGIN", "was here", 1); }
#include "base.h"
