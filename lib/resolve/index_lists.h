/* index_lists.h: pairs of indices, lists of them by first index, and a sort with nvlink's order of
 * equal items.
 *
 * Call graphs, users of variables and the like are read as pairs in input order and then sorted,
 * once, into one array of items with the lists' starts beside it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

#define MERGE_NONE UINT32_MAX /* no symbol, section, file ... */

struct merged_pair {
    uint32_t from, to;
    uint32_t group; /* only pairs of one group are duplicates; those of a key are adjacent */
};

/* A growing array; start with {.arena = ...}. */
struct merged_pairs {
    struct arena *arena;
    struct merged_pair *items;
    size_t count;
    size_t capacity;
};

/* Items of key k: items[first[k]] up to items[first[k + 1]]. */
struct merged_lists {
    uint32_t *first;
    uint32_t *items;
};

void index_lists_add_of(struct merged_pairs *pairs, uint32_t from, uint32_t to, size_t group);

static inline void index_lists_add(struct merged_pairs *pairs, uint32_t from, uint32_t to)
{
    index_lists_add_of(pairs, from, to, 0);
}

/* Sorts pairs into `key_count` lists by `from`, each in the order of the pairs. */
struct merged_lists index_lists_make(struct arena *arena, const struct merged_pairs *pairs,
                                     size_t key_count);

/* The same without duplicates; items are below `item_count`. */
struct merged_lists index_lists_make_distinct(struct arena *arena, const struct merged_pairs *pairs,
                                              size_t key_count, size_t item_count);

/* By item below `item_count`: the keys whose lists have it, in ascending order. */
struct merged_lists index_lists_invert(struct arena *arena, const struct merged_lists *lists,
                                       size_t key_count, size_t item_count);

/* Reverses each list. */
void index_lists_reverse(struct merged_lists *lists, size_t key_count);

static inline size_t index_lists_count(const struct merged_lists *lists, uint32_t key)
{
    return lists->first[key + 1] - lists->first[key];
}

/* True if `a` must come before `b`. */
typedef bool index_before(const void *context, uint32_t a, uint32_t b);

/* Sorts with nvlink's unstable list merge sort, which orders ties in its own way, so that equal
 * variables get nvlink's addresses. `scratch` has room for `count` items. If `before` is NULL, it
 * is true for all. */
void index_lists_sort_unstably(uint32_t *items, size_t count, uint32_t *scratch,
                               index_before *before, const void *context);
