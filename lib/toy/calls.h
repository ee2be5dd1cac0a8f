/* calls.h: who calls whom in a chunk, read off the text before anything is compiled, and what
 * follows from that (minilink-internals(7), Phases, 17). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "toy/unit.h"

/* What a function's text shows. */
struct caller {
    uint32_t *callees; /* functions of the chunk that it calls by name, each once; in the arena */
    uint32_t callee_count;
    bool calls_indirectly;
    bool has_double_mma; /* mma .f64 */
    uint32_t ring;       /* functions that call each other, also through others, have one number
                            other than 0; a function that only calls itself has none */
};

struct calls {
    struct caller *callers; /* one for each of unit->functions */
    uint32_t ring_count;
};

/* Reads all bodies, once. In the unit's arena. */
void calls_read(struct calls *calls, struct unit *unit);

/* True when reading them could tell anything that phase 17 says without -v. */
bool calls_may_warn(const struct unit *unit);

/* Phase 17: an info for each function with an indirect call beside mma .f64; under -v one for the
 * functions of each ring. How many were told. */
size_t calls_report(const struct calls *calls, struct unit *unit);
