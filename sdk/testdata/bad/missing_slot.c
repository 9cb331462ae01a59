/* A descriptor without `start`. */
#define BAD_START NULL
#include "base.h"
