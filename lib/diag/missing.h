/* missing.h: what notes say about missing symbols: who refers to them, and which definitions have
 * nearly the same name. */
#pragma once

#include "base/arena.h"
#include "base/text.h"

/* All three are the caller's numbers. */
struct referrer {
    uint32_t symbol; /* the missing one */
    uint32_t file;
    uint32_t by; /* a symbol of the file */
};

/* Start with {0}; the list is in the arena that it is given. */
struct referrers {
    struct referrer *list;
    size_t count, capacity;
};

void referrers_add(struct referrers *referrers, struct arena *arena, struct referrer referrer);

/* Sorts them by symbol, file and referring symbol, each once. */
void referrers_sort(struct referrers *referrers);

/* The index of the first that refers to `symbol` in `file` or a later file, or where that would be
 * in the sorted list. */
size_t referrers_first(const struct referrers *referrers, uint32_t symbol, uint32_t file);

/* How a definition with the same base (diag/symbol_names.h) differs from the missing name: in the
 * types of parameters, or in C or C++ linkage. Follows "is defined in 'a.o', ". */
const char *missing_difference(struct text missing, struct text defined);
