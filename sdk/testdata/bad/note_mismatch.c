/* The note says version 1.0.0, the descriptor 2.0.0. */
#define BAD_VERSION "2.0.0"
#include "base.h"
