/* source_place.h: finds the place in the user's sources for a place in PTX. */
#pragma once

#include "base/memory.h"
#include "diag/diag.h"
#include "ptx/module.h"

/* The place of `at` in a function or variable of the module: the source line of the .loc before it,
 * else its line of PTX. `at` may be NULL: the beginning of the function. Texts live in `arena`. */
struct diag_place source_place(const struct ptx_module *module, const struct ptx_item *item,
                               const char *at, struct arena *arena);

/* The place of `at` in the PTX itself. If `at` lies outside the item, as for names of a range of
 * variables, the item's beginning. The cost is proportional to the text in between. */
struct diag_place source_ptx_place(const struct ptx_module *module, const struct ptx_item *item,
                                   const char *at);

/* Where the item names `name`; NULL: nowhere. */
const char *source_find(const struct ptx_item *item, struct text name);

/* The first ".loc 1 2 3" of a function, without the rest of the line; empty if it has none. */
struct text source_first_loc(const struct ptx_item *function);
