/* words.h: lists of fixed words (opcodes, modifiers, special registers) that are found by name.
 *
 * A word's number is its place in the list and part of the encoding, so lists only grow at their
 * ends. */
#pragma once

#include <stdint.h>

#include "base/text.h"

struct words {
    const struct text *list; /* list[0] is no word */
    uint16_t count;          /* entries of `list` */
};

/* The number of `name`, or 0. */
uint16_t words_find(const struct words *words, struct text name);

/* The name of word `number`, NUL-terminated; "" when there is none. */
const char *words_name(const struct words *words, uint16_t number);

/* The word nearest to `name` by edit distance, the first of several; NULL when more than a third of
 * `name` would have to change. */
const char *words_nearest(const struct words *words, struct text name);
