/* renames.h: renamed references: --wrap and --defsym. */
#pragma once

#include "base/table.h"

/* Start with {0}. Names are borrowed. */
struct renames {
    struct table places; /* indexes of `meanings` */
    struct text *meanings;
    size_t count, capacity;
};

/* References to `name` mean `meaning` from now on. */
void renames_add(struct renames *renames, struct text name, struct text meaning);

/* The symbol that a reference to `name` means: `name` itself unless it was renamed. */
struct text renames_meaning(const struct renames *renames, struct text name);

void renames_free(struct renames *renames);
