/* mercury_relocate.h: the relocations of Mercury's twins. */
#pragma once

#include "merge/merging.h"

/* Resolves them, or collects them in m->relocations with sections of their own. Comes after the
 * other relocations. A relocation that cannot be treated leaves the twins out. */
void mercury_relocate(struct merging *m);

/* Adds empty lists where only the twin of a section has relocations (measured on nvlink 13.0).
 * Comes after relocate_sections. */
void mercury_add_lists(struct merging *m);
