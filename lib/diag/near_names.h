/* near_names.h: definitions similar to a missing symbol: names that differ only in the types of
 * parameters, or in C or C++ linkage. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"

#define NEAR_NONE TABLE_NONE

/* Names by their base (diag/symbol_names.h), each with a number of the caller's. */
struct near_names {
    struct arena *arena;
    struct table bases; /* to the last name that was added with it */
    uint32_t *next;     /* by number: the name that was added before, or NEAR_NONE */
};

/* Room, in `arena`, for numbers below `count`; near_names_free frees the rest. */
void near_names_begin(struct near_names *near, struct arena *arena, size_t count);

/* Adds a name with its number. They are found in reverse order. */
void near_names_add(struct near_names *near, uint32_t number, struct text name);

/* The first name with the base of `name`, which may be that name itself; and the next one.
 * NEAR_NONE: no more. */
uint32_t near_names_first(const struct near_names *near, struct text name);
uint32_t near_names_next(const struct near_names *near, uint32_t number);

/* How a definition differs from the missing name; follows "is defined in 'a.o', ". */
const char *near_names_difference(struct text missing, struct text defined);

void near_names_free(struct near_names *near);
