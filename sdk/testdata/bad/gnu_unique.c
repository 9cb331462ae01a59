/* A unique symbol: one object for all plugins of the process. */
#include "base.h"
__asm__(
    ".data\n"
    ".globl shared_by_all_plugins\n"
    ".type shared_by_all_plugins, %gnu_unique_object\n"
    ".size shared_by_all_plugins, 4\n"
    "shared_by_all_plugins:\n"
    ".long 0\n"
    ".text\n");
