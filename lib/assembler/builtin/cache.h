/* cache.h: cache operators that options give to loads and stores (minilink-internals(7), Phases, 1
 * and 16). */
#ifndef MINILINK_BUILTIN_CACHE_H
#define MINILINK_BUILTIN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "assembler/builtin/language/body.h"
#include "assembler/builtin/switches.h"

/* Indices in the modifier table; 0 = none was given. */
struct cache_modes {
    uint16_t load;
    uint16_t store;
    bool forces_load; /* -force-load-cache: in place of an operator in the text, too */
    bool forces_store;
};

/* What the switches say. False, and errors in ptxas's words, for what is no cache operator. */
bool cache_read(struct cache_modes *modes, const struct switches *switches);

/* Gives the operators to the body's loads and stores. */
void cache_apply(struct body *body, const struct cache_modes *modes);

#endif
