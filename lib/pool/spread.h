/* spread.h: a loop over many items, cut into parts that run on a few threads.
 *
 * Properties. The parts' results must not depend on where the loop is cut. Their messages do not:
 * they come in the order of the items, as if one thread had processed them.
 *
 * Safety. Parts run at the same time: each writes only data of its own items, or of its part. Few
 * items run in the calling thread alone. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pool/jobserver.h"

/* Most parts of a loop; callers keep only little data for each. */
#define SPREAD_MOST 16u

struct spread {
    uint32_t threads; /* at most; 0 = 1 */
    enum jobserver_use jobserver;
};

/* The number of parts of a loop over `count` items if each should have `least` of them: at least 1,
 * at most SPREAD_MOST. */
size_t spread_parts(const struct spread *spread, size_t count, size_t least);

/* Calls run(argument, part, first, last) for each part, counted from 0, for the items from `first`
 * to before `last`. When all have ended, raises the error of the first part that raised one. */
void spread_run(const struct spread *spread, size_t count, size_t least,
                void (*run)(void *argument, size_t part, size_t first, size_t last),
                void *argument);
