/* Needs a library outside of the baseline (linked in by the build). */
#include "base.h"
