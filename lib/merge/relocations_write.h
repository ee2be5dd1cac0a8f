/* relocations_write.h: the relocations that stay, as sections of the image (relocations.h). */
#pragma once

#include "merge/merging.h"

/* Writes the contents of the lists. Comes after the symbols have their rows. False, and an error,
 * when a relocation stays for a symbol that does not. */
bool relocations_write(struct merging *m);
