/* A descriptor with another magic number. */
#define BAD_MAGIC 0x12345678u
#include "base.h"
