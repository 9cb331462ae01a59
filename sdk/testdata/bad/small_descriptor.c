/* A descriptor that claims to end before its mandatory slots. */
#define BAD_STRUCT_SIZE 96
#include "base.h"
