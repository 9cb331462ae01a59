/* Exports a function beside the entry (linked without a version script). */
#include "base.h"
__attribute__((visibility("default"))) int helper_of_bad_plugin(void);
int helper_of_bad_plugin(void) { return 1; }
