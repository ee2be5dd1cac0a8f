/* search.h: sorting arrays, binary search in sorted ones, the largest of several values, components
 * of graphs, and how far words are apart. */
#pragma once

#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"

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

/* Strongly connected components of a graph: maximal sets of nodes that all reach each other, such
 * as mutually recursive functions. */
#define COMPONENTS_END UINT32_MAX

struct components_graph {
    void *argument;
    size_t node_count;
    /* The target of a node's edge number `position`; COMPONENTS_END after the last. */
    uint32_t (*successor)(void *argument, uint32_t node, uint32_t position);
    /* Called for each component, after all others that it leads to. is_open is true for its
     * members, and false for the nodes of those others. */
    void (*finish)(void *argument, const uint32_t *members, size_t count, const bool *is_open);
};

/* Tarjan's algorithm, linear, without recursion; its scratch memory is in `arena`. */
void components_find(const struct components_graph *graph, struct arena *arena);

/* Longer words are not compared: no option or keyword is as long. */
#define EDIT_DISTANCE_LONGEST 48u

/* How many bytes must be inserted, deleted, changed, or swapped with the next one, to turn `from`
 * into `to`. SIZE_MAX if it is more than `most`, or either has more than EDIT_DISTANCE_LONGEST. */
size_t edit_distance(struct text from, struct text to, size_t most);
