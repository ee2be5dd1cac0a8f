/* search.h: sorting arrays, binary search in sorted ones, and the largest of several values. */
#pragma once

#include <stddef.h>
#include <stdlib.h>

/* qsort for an array that may be empty and then NULL, which qsort does not accept. */
#define SORT(array, count, compare)                                                                \
    ((count) ? qsort((array), (count), sizeof *(array), (compare)) : (void)0)

/* Less than, equal to or greater than 0, as `a` compares with `b`: one key of a comparison for
 * SORT. Join several with ?:; the first that differs counts. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Defines a comparison for SORT of elements of a type: `order` compares *a with *b. */
#define COMPARISON(name, type, order)                                                              \
    static int name(const void *left, const void *right)                                           \
    {                                                                                              \
        const __typeof__(type) *a = left, *b = right;                                              \
                                                                                                   \
        return order;                                                                              \
    }

/* Makes `place` at least `value`. */
#define RAISE(place, value)                                                                        \
    do {                                                                                           \
        __typeof__(place) raise_ = (value);                                                        \
                                                                                                   \
        if ((place) < raise_)                                                                      \
            (place) = raise_;                                                                      \
    } while (0)

/* The partition point of 0 .. `count`: the first index for which the expression `is_before`, which
 * names it `index`, is false; `count` when it is true for all. The indexes for which it is true
 * come first: the array is sorted. A GNU C statement expression, so that the comparison is inlined:
 * some arrays have millions of elements. */
#define SEARCH_FIRST_NOT(count, index, is_before)                                                  \
    ({                                                                                             \
        size_t search_low_ = 0, search_high_ = (count);                                            \
                                                                                                   \
        while (search_low_ < search_high_) {                                                       \
            size_t index = search_low_ + (search_high_ - search_low_) / 2;                         \
                                                                                                   \
            if (is_before)                                                                         \
                search_low_ = index + 1;                                                           \
            else                                                                                   \
                search_high_ = index;                                                              \
        }                                                                                          \
        search_low_;                                                                               \
    })
