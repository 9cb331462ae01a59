/* Compiles only if the header is clean C11 with the released layout. */
#include "otc/plugin.h"

OTC_MANIFEST("manifest=1\n");
