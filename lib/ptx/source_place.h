/* source_place.h: where in the user's sources something stands. */
#pragma once

#include "base/arena.h"
#include "diag/diag.h"
#include "ptx/module.h"

/* The place of the text at `at` in a function or variable of the module: the line of the source
 * that the .loc in front of it names, else its line of PTX. `at` may be NULL: where the function
 * begins. Texts are made in `arena`. */
struct diag_place source_place(const struct ptx_module *module, const struct ptx_item *item,
                               const char *at, struct arena *arena);

/* The place in the PTX itself of the text at `at`, which is in the item; elsewhere, as the names of
 * a range of variables are: where the item begins. Costs what stands between. */
struct diag_place source_ptx_place(const struct ptx_module *module, const struct ptx_item *item,
                                   const char *at);

/* Where the item names `name`; NULL: nowhere. */
const char *source_find(const struct ptx_item *item, struct text name);

/* The first ".loc 1 2 3" of a function, without what may follow; empty where it has none. */
struct text source_first_loc(const struct ptx_item *function);
