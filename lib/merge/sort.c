/* sort.c: a merge sort that halves a list by dealing its items out in turn, each to the front of
 * its half, as nvlink's must do: measured by where variables of equal size end up. */
#include "merge/sort.h"

void sort_unstably(uint32_t *items, size_t count, uint32_t *scratch, sort_before *before,
                   const void *context)
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
    sort_unstably(a, a_count, items, before, context);
    sort_unstably(b, count - a_count, items, before, context);
    for (size_t i = 0; i < count; i++) {
        bool takes_a = from_b == count - a_count ||
                       (from_a < a_count && before(context, a[from_a], b[from_b]));

        items[i] = takes_a ? a[from_a++] : b[from_b++];
    }
}
