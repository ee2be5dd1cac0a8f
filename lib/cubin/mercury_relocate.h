/* mercury_relocate.h: the relocations of Mercury's twins. */
#ifndef MINILINK_CUBIN_MERCURY_RELOCATE_H
#define MINILINK_CUBIN_MERCURY_RELOCATE_H

#include "cubin/merging.h"

/* Resolves them, or collects them in m->relocations with sections of their own. Comes after the
 * other relocations. A relocation that cannot be treated leaves the twins out. */
void mercury_relocate(struct merging *m);

#endif
