/* words.h: lists of fixed words (opcodes, modifiers, special registers) that are found by name.
 *
 * A word's number is its place in the list and part of the encoding, so lists only grow at their
 * ends; a second, constant list is a hash table of the same numbers, so that nothing has to be set
 * up when a program starts. */
#ifndef MINILINK_LANGUAGE_WORDS_H
#define MINILINK_LANGUAGE_WORDS_H

#include <stdint.h>

#include "base/text.h"

struct word {
    const char *name;
    uint32_t size; /* bytes, without NUL */
};

struct words {
    const struct word *list; /* list[0] is no word */
    const uint16_t *slots;   /* numbers, by words_hash() and linear probing; 0 = empty */
    uint32_t mask;           /* slots - 1, a power of two and at least `count` */
    uint16_t count;          /* entries of `list` */
};

/* The number of `name`, or 0. */
uint16_t words_find(const struct words *words, struct text name);

/* The word nearest to `name` by edit distance (a swap of neighbours is two edits), the first of
 * several; NULL when more than a third of `name` would have to change. Slow: for messages. */
const char *words_nearest(const struct words *words, struct text name);

/* Where probing for `name` begins, before it is masked. */
uint32_t words_hash(struct text name);

#endif
