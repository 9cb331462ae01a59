/* The note says ABI 1.0, the descriptor 2. */
#define BAD_MAJOR 2
#include "base.h"
