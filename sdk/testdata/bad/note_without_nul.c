/* A manifest note whose text lacks the NUL at the end. */
#include "base.h"
static const struct {
  uint32_t namesz, descsz, type;
  char name[4];
  char desc[12];
} kNote
    __attribute__((section(".note.otc"), used, aligned(4))) = {4u, 12u, 1u, "OTC", "manifest=1\nX"};
