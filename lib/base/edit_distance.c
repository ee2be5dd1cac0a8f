/* edit_distance.c: optimal string alignment; each row needs the two before it. */
#include "base/edit_distance.h"

static size_t least_distance(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t edit_distance(struct text from, struct text to, size_t most)
{
    size_t rows[3][EDIT_DISTANCE_LONGEST + 1], edits;

    if (from.size > EDIT_DISTANCE_LONGEST || to.size > EDIT_DISTANCE_LONGEST ||
        from.size > to.size + most || to.size > from.size + most)
        return SIZE_MAX;
    for (size_t j = 0; j <= to.size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= from.size; i++) {
        size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= to.size; j++) {
            bool is_changed = from.data[i - 1] != to.data[j - 1];
            bool is_swapped = i > 1 && j > 1 && from.data[i - 1] == to.data[j - 2] &&
                              from.data[i - 2] == to.data[j - 1];

            row[j] =
                least_distance(least_distance(row[j - 1], last[j]) + 1, last[j - 1] + is_changed);
            if (is_swapped)
                row[j] = least_distance(row[j], before[j - 2] + 1);
        }
    }
    edits = rows[from.size % 3][to.size];
    return edits <= most ? edits : SIZE_MAX;
}
