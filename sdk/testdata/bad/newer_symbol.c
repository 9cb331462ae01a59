/* Needs a symbol version that the baseline does not have. */
#include "base.h"
int from_the_future(void);
static int (*volatile keep)(void) __attribute__((used)) = from_the_future;
