/* Dies of a signal while it is loaded. */
#include <stdlib.h>
__attribute__((constructor)) static void Crash(void) { abort(); }
#include "base.h"
