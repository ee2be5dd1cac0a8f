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

/* What becomes of a function's loads, and of its stores. */
enum cache_mode {
    CACHE_AS_WRITTEN = 0, /* what the text and the callees say */
    CACHE_BY_DEFAULT = 1, /* the option's operator where the text has none */
    CACHE_FORCED = 2,     /* the option's operator, whatever the text has */
};

/* Phase 16, for one function: what the options say of loads, and of stores. */
enum cache_mode cache_load_mode(const struct cache_modes *modes);
enum cache_mode cache_store_mode(const struct cache_modes *modes);

/* Gives the operators to the body's loads and stores, as the function's modes say. */
void cache_apply(struct body *body, const struct cache_modes *modes, uint8_t load_mode,
                 uint8_t store_mode);

#endif
