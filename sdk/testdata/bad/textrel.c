/* An absolute address in code, which needs a relocation there. */
#include "base.h"
__asm__(
    ".text\n"
    ".type address_in_code, %object\n"
    "address_in_code:\n"
    ".quad otc_plugin_entry_v1\n"
    ".size address_in_code, 8\n");
