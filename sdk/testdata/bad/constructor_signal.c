/* Installs a signal handler while it is loaded. */
#include <signal.h>
static void Ignore(int number) { (void)number; }
__attribute__((constructor)) static void Install(void) { signal(SIGUSR1, Ignore); }
#include "base.h"
