/* cache_operator.h: cache operators that options give to loads and stores (minilink-internals(7),
 * Phases, 1 and 16). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "toy/language/body.h"
#include "toy/switches.h"

/* What becomes of loads, and of stores. */
enum cache_mode {
    CACHE_AS_WRITTEN = 0, /* what the text and the callees say */
    CACHE_BY_DEFAULT = 1, /* the option's operator where the text has none */
    CACHE_FORCED = 2,     /* the option's operator, whatever the text has */
};

/* What the options say. */
struct cache_operator {
    uint16_t word; /* index in the modifier table; 0 = none was given */
    enum cache_mode mode;
};

struct cache_operators {
    struct cache_operator loads;
    struct cache_operator stores;
};

/* Reads the switches. False, and errors in ptxas's words, for what is no cache operator. */
bool cache_operator_read(struct cache_operators *operators, const struct switches *switches);

/* Gives the operators to the body's loads and stores. */
void cache_operator_apply(struct body *body, const struct cache_operators *operators);
