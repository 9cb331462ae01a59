/* The note that the Go linker leaves in everything it makes. */
#include "base.h"
static const struct {
  uint32_t namesz, descsz, type;
  char name[4];
  char desc[8];
} kNote
    __attribute__((section(".note.go.buildid"), used, aligned(4))) = {4u, 8u, 4u, "Go", "abcdefg"};
