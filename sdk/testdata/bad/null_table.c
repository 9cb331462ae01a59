/* An interface without a table. */
#include "otc/plugin.h"
static const otc_interface kInterfaces[] = {{{"otc.instances-v2/1", 18}, NULL}};
#define BAD_INTERFACES kInterfaces
#define BAD_INTERFACE_COUNT 1
#include "base.h"
