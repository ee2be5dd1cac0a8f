/* cache_operator.h: cache operators that options set for loads and stores (minilink-internals(7),
 * Phases, 1 and 16). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "language/body.h"
#include "toy/switches.h"

/* How an option applies to loads or stores. */
enum cache_mode {
    CACHE_AS_WRITTEN = 0, /* as the text says */
    CACHE_BY_DEFAULT = 1, /* the option's operator if the text has none */
    CACHE_FORCED = 2,     /* the option's operator, replacing the text's */
};

/* The operator of an option. */
struct cache_operator {
    uint16_t word; /* index in the modifier table; 0 = none was given */
    enum cache_mode mode;
};

struct cache_operators {
    struct cache_operator loads;
    struct cache_operator stores;
};

/* Reads the switches. Reports errors in ptxas's wording and returns false for anything that is not
 * a cache operator. */
bool cache_operator_read(struct cache_operators *operators, const struct switches *switches);

/* Applies the operators to the body's loads and stores. */
void cache_operator_apply(struct body *body, const struct cache_operators *operators);
