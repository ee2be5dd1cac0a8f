/* index_lists.c: a counting sort of pairs into lists, linear in pairs and keys; and a merge sort
 * that splits a list by moving its items alternately to the front of two lists. nvlink must do the
 * same, as the order of variables of equal size shows (measured). */
#include "resolve/merging.h"

void index_lists_add_of(struct merged_pairs *pairs, uint32_t from, uint32_t to, size_t group)
{
    ARENA_PUSH(pairs->arena, pairs->items, pairs->count, pairs->capacity) =
        (struct merged_pair){from, to, (uint32_t)group};
}

/* Lists of the pairs' numbers, or of their items. */
static struct merged_lists sort_pairs(struct arena *arena, const struct merged_pairs *pairs,
                                      size_t key_count, bool are_numbers)
{
    struct merged_lists lists = {.first = arena_zalloc(arena, key_count + 2, sizeof *lists.first),
                                 .items = arena_alloc(arena, pairs->count, sizeof *lists.items)};
    uint32_t *next = lists.first + 1; /* by key: where its next item goes; its list's end at last */

    for (size_t i = 0; i < pairs->count; i++)
        next[pairs->items[i].from + 1]++;
    for (size_t key = 0; key < key_count; key++)
        next[key + 1] += next[key];
    for (size_t i = 0; i < pairs->count; i++)
        lists.items[next[pairs->items[i].from]++] = are_numbers ? (uint32_t)i : pairs->items[i].to;
    return lists;
}

struct merged_lists index_lists_make(struct arena *arena, const struct merged_pairs *pairs,
                                     size_t key_count)
{
    return sort_pairs(arena, pairs, key_count, false);
}

struct merged_lists index_lists_make_distinct(struct arena *arena, const struct merged_pairs *pairs,
                                              size_t key_count, size_t item_count)
{
    struct merged_lists lists = sort_pairs(arena, pairs, key_count, true);
    uint32_t *seen = arena_zalloc(arena, item_count, sizeof *seen); /* the last mark of each */
    uint32_t mark = 0, group = 0, kept = 0, start = 0;

    for (size_t key = 0; key < key_count; key++) {
        uint32_t end = lists.first[key + 1];

        lists.first[key] = kept;
        for (uint32_t i = start; i < end; i++) {
            const struct merged_pair *pair = &pairs->items[lists.items[i]];

            mark += i == start || pair->group != group;
            group = pair->group;
            if (seen[pair->to] != mark)
                lists.items[kept++] = pair->to;
            seen[pair->to] = mark;
        }
        start = end;
    }
    lists.first[key_count] = kept;
    return lists;
}

struct merged_lists index_lists_invert(struct arena *arena, const struct merged_lists *lists,
                                       size_t key_count, size_t item_count)
{
    LOCAL_ARENA(scratch);
    struct merged_pairs pairs = {.arena = &scratch};

    for (uint32_t key = 0; key < key_count; key++)
        for (uint32_t i = lists->first[key]; i < lists->first[key + 1]; i++)
            index_lists_add(&pairs, lists->items[i], key);
    return index_lists_make(arena, &pairs, item_count);
}

void index_lists_sort_unstably(uint32_t *items, size_t count, uint32_t *scratch,
                               index_before *before, const void *context)
{
    size_t a_count = (count + 1) / 2;
    uint32_t *a = scratch;
    uint32_t *b = scratch + a_count;
    size_t from_a = 0;
    size_t from_b = 0;

    if (count < 2)
        return;
    /* Every second item goes to the front of the second list, the others of the first. */
    for (size_t i = 0; i < count; i++) {
        if (i & 1)
            b[count - a_count - 1 - i / 2] = items[i];
        else
            a[a_count - 1 - i / 2] = items[i];
    }
    index_lists_sort_unstably(a, a_count, items, before, context);
    index_lists_sort_unstably(b, count - a_count, items, before, context);
    for (size_t i = 0; i < count; i++) {
        bool takes_a = from_b == count - a_count ||
                       (from_a < a_count && (!before || before(context, a[from_a], b[from_b])));

        items[i] = takes_a ? a[from_a++] : b[from_b++];
    }
}
