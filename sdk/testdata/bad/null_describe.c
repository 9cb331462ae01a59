/* An interface whose mandatory slot is NULL. */
#include "otc/plugin.h"
static const otc_instances_v2_1 kTable = {sizeof(otc_instances_v2_1), 0, NULL};
static const otc_interface kInterfaces[] = {{{"otc.instances-v2/1", 18}, &kTable}};
#define BAD_INTERFACES kInterfaces
#define BAD_INTERFACE_COUNT 1
#include "base.h"
