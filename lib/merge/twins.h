/* twins.h: what is known of Mercury's second form of the code (mercury.h), each struct from the
 * stage that fills it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cubin/mercury.h"

/* In the cubins; mercury.c. */
struct twins {
    const uint32_t *owner_of; /* by input section of Mercury's: its function, or MERGE_NONE */
    const struct cubin_twins *tables; /* by file: its Mercury symbol table */
};

/* Among the merged sections; mercury.c, with those that mercury_constants.c makes. */
struct twin_pairs {
    const uint32_t *twin_of; /* by merged section, below `count`: its twin, or MERGE_NONE */
    size_t count;
    /* By merged section, a twin that is not written itself: the first of its copies in
     * merging.constants, which follow each other and have the same `from`; constant_count: none. */
    const uint32_t *copies;
};

/* The merged sections that are Mercury's own tables; mercury_write.c. */
struct twin_tables {
    uint32_t symtab;
    uint32_t indices; /* its table of section indices, or MERGE_NONE */
};
