/* renames.h: what references are taken to mean: --wrap and --defsym. */
#pragma once

#include "base/table.h"

/* Start with {0}. Names are borrowed. */
struct renames {
    struct table places; /* in `meanings` */
    struct text *meanings;
    size_t count, capacity;
};

/* References to `name` mean `meaning` from now on. */
void renames_add(struct renames *renames, struct text name, struct text meaning);

/* What a reference to `name` means: mostly that. */
struct text renames_meaning(const struct renames *renames, struct text name);

void renames_free(struct renames *renames);
