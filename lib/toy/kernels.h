/* kernels.h: the per-function loop, in one thread or on several.
 *
 * minilink-internals(7), Functions of one chunk. Each function is a work item; small ones go to a
 * worker together. What comes out is the same, byte for byte and message for message, whatever the
 * number of threads. */
#pragma once

#include "base/context.h"
#include "toy/unit.h"

/* Assembles unit->functions, each of which has `item` and `global` set. LINK_CANCELLED when the job
 * is given up, else LINK_FAILED, and errors in the functions' order, when one cannot be. */
enum link_code kernels_compile(struct unit *unit);

/* Frees what kernels_compile() has put into unit->rooms; the functions' results are gone then. */
void kernels_free(struct unit *unit);
