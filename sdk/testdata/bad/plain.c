/* Nothing wrong in the code: the fault lies in link flags, note or name. */
#include "base.h"
