/* nvptx_ld.h: minilink under the name that GCC gives the linker of its nvptx target. */
#pragma once

#include "base/arena.h"

/* Where `program`, argv[0], is GCC's name for it ("ld", "nvptx-none-ld"): the words that ask
 * minilink for the same, *count of them, in `arena`, without a program name; else NULL. */
char *const *nvptx_ld_words(struct arena *arena, int argc, char *const *argv, size_t *count);

/* Whether the words ask for the help or version of nvptx-none-ld, which is then printed. */
bool nvptx_ld_tells(int argc, char *const *argv);
