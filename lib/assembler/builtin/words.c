/* words.c: binary search by size and bytes: most steps compare two integers only. */
#include "assembler/builtin/words.h"

#include <string.h>

#define LONGEST_MISSPELLING 48

int words_compare(struct text a, struct text b)
{
    if (a.size != b.size)
        return a.size < b.size ? -1 : 1;
    if (a.size == 0)
        return 0;
    if (a.data[0] != b.data[0]) /* mostly so, and cheaper than the call */
        return (unsigned char)a.data[0] < (unsigned char)b.data[0] ? -1 : 1;
    return memcmp(a.data, b.data, a.size);
}

uint16_t words_find(const struct words *words, struct text name)
{
    size_t low = 0, high = (size_t)words->count - 1;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct word *word = &words->list[words->order[middle]];
        int order = words_compare(name, (struct text){word->name, word->size});

        if (order == 0)
            return words->order[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned result = a < b ? a : b;

    return result < c ? result : c;
}

/* Levenshtein distance, one row at a time. Both texts are at most LONGEST_MISSPELLING bytes. */
static unsigned distance(struct text a, struct text b)
{
    unsigned row[LONGEST_MISSPELLING + 1];

    for (unsigned j = 0; j <= b.size; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.size; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned j = 1; j <= b.size; j++) {
            unsigned above = row[j];

            row[j] = least(above + 1, row[j - 1] + 1,
                           diagonal + (a.data[i - 1] == b.data[j - 1] ? 0 : 1));
            diagonal = above;
        }
    }
    return row[b.size];
}

const char *words_nearest(const struct words *words, struct text name)
{
    unsigned best = (unsigned)(name.size < 3 ? 1 : name.size / 3) + 1;
    const char *result = NULL;

    if (name.size == 0 || name.size > LONGEST_MISSPELLING)
        return NULL;
    for (uint16_t i = 1; i < words->count; i++) {
        struct text word = {words->list[i].name, words->list[i].size};
        unsigned edits = word.size > LONGEST_MISSPELLING ? best : distance(name, word);

        if (edits < best) {
            best = edits;
            result = words->list[i].name;
        }
    }
    return result;
}
