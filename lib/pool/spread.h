/* spread.h: a loop over many items, cut into parts that run on a few threads.
 *
 * Properties. What the parts make must not depend on where they are cut; what they say does not:
 * messages come in the order of the items, as if one thread had gone through them.
 *
 * Operation. One call runs all parts and returns when the last has ended. Few items run in the
 * calling thread alone.
 *
 * Safety. Parts run at the same time: each writes only what is its items' own, or its part's. What
 * the caller wrote before is visible to them, and what they write to the caller afterwards. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pool/jobserver.h"

/* Most parts of a loop: what callers keep for each of them is small. */
#define SPREAD_MOST 16u

struct spread {
    uint32_t threads; /* at most; 0 = 1 */
    enum jobserver_use jobserver;
};

/* How many threads there may be: the number of CPUs, at most `limit` (0 = none), one where
 * LIBNVVM_DISABLE_CONCURRENT_API is set. */
uint32_t spread_threads(uint32_t limit);

/* How many parts a loop over `count` items has when each should have `least` of them: at least 1,
 * at most SPREAD_MOST. */
size_t spread_parts(const struct spread *spread, size_t count, size_t least);

/* Calls run(argument, part, first, last) for each part, first come 0, for the items from `first` to
 * before `last`. Raises what a part raised, the first part's, when all have ended. */
void spread_run(const struct spread *spread, size_t count, size_t least,
                void (*run)(void *argument, size_t part, size_t first, size_t last),
                void *argument);
