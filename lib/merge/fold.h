/* fold.h: --icf=safe: device functions that are the same become one. */
#pragma once

#include "merge/merging.h"

/* Makes functions that are the same in all that an executable has of them one: references to the
 * others mean the first, and what belongs to them is treated as that of a weak copy that lost.
 * Wants the call graph, which is out of date where it gives true: something was folded then. */
bool fold_functions(struct merging *m);

/* Whether symbol `index` of a cubin defines a function in whose place another one stands. */
static inline bool fold_has(const struct merging *m, size_t file, uint32_t index)
{
    return m->is_folded && m->is_folded[m->symbol_base[file] + index];
}
