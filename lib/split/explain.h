/* explain.h: the split as a table for people (--explain-split). Private to split/. */
#pragma once

#include "split/plan.h"

/* Why there are as many chunks, and what splitting adds to the program. Does nothing, like
 * explain_chunk, when the request has no buffer for it. */
void explain_plan(const struct plan *plan, const struct chunks *chunks);

/* One line for each symbol that the chunk defines or only names: `needed`, in program order. */
void explain_chunk(const struct plan *plan, const struct chunk *chunk,
                   const struct closure *needed);

/* The same for a module that is a chunk as it stands. */
void explain_whole(const struct plan *plan, const struct chunk *chunk, uint32_t module);
