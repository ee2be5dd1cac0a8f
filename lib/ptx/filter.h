/* filter.h: a cheap test of whether a word can be one of a module's names, so that most words of a
 * body need no look-up. Private to ptx/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Start with {0}. */
struct name_filter {
    uint64_t bits[16];
};

static inline unsigned filter_bit(struct text name)
{
    unsigned first = (unsigned char)name.data[0];
    unsigned last = (unsigned char)name.data[name.size - 1];

    return (first * 37 + last * 11 + (unsigned)name.size * 5) & 1023;
}

/* Names and words are not empty. */
static inline void filter_add(struct name_filter *filter, struct text name)
{
    filter->bits[filter_bit(name) / 64] |= UINT64_C(1) << (filter_bit(name) % 64);
}

/* False when no name that was added is `word`. */
static inline bool filter_may_have(const struct name_filter *filter, struct text word)
{
    return filter->bits[filter_bit(word) / 64] >> (filter_bit(word) % 64) & 1;
}
