/* words.h: lists of fixed words (opcodes, modifiers, special registers) that are found by name.
 *
 * A word's number is its place in the list and part of the encoding, so lists only grow at their
 * ends; a second, constant list gives the same numbers in the order of the names. */
#ifndef MINILINK_BUILTIN_WORDS_H
#define MINILINK_BUILTIN_WORDS_H

#include <stdint.h>

#include "base/text.h"

struct word {
    const char *name;
    uint32_t size; /* bytes, without NUL */
};

struct words {
    const struct word *list; /* list[0] is no word */
    const uint16_t *order;   /* `count` - 1 numbers, sorted by size and then by bytes */
    uint16_t count;          /* entries of `list` */
};

/* The number of `name`, or 0. */
uint16_t words_find(const struct words *words, struct text name);

/* The word nearest to `name` by edit distance (a swap of neighbours is two edits), the first of
 * several; NULL when more than a third of `name` would have to change. Slow: for messages. */
const char *words_nearest(const struct words *words, struct text name);

/* Compares as `order` is sorted: negative, 0 or positive. */
int words_compare(struct text a, struct text b);

#endif
