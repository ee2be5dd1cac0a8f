/* words.c: one multiplication, one probe, one comparison: every opcode and modifier of a text is
 * looked up here. */
#include "assembler/builtin/language/words.h"

#include <string.h>

#define LONGEST_MISSPELLING 48

static uint64_t load(const char *data, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, data, size);
    return value;
}

/* The first and the last bytes tell most words apart. */
uint32_t words_hash(struct text name)
{
    const char *end = name.data + name.size;
    uint64_t first, last;

    if (name.size >= 8) {
        first = load(name.data, 8);
        last = load(end - 8, 8);
    } else if (name.size >= 4) {
        first = load(name.data, 4);
        last = load(end - 4, 4);
    } else if (name.size > 0) {
        first = (uint64_t)(unsigned char)name.data[0];
        last = (uint64_t)(unsigned char)name.data[name.size / 2] << 8 | (unsigned char)end[-1];
    } else {
        return 0;
    }
    first = (first ^ (last << 29 | last >> 35)) * UINT64_C(0x9e3779b97f4a7c15) + name.size;
    return (uint32_t)((first ^ first >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 40);
}

uint16_t words_find(const struct words *words, struct text name)
{
    for (uint32_t at = words_hash(name) & words->mask;; at = (at + 1) & words->mask) {
        uint16_t number = words->slots[at];
        const struct word *word = &words->list[number];

        if (number == 0 ||
            (word->size == name.size && memcmp(word->name, name.data, name.size) == 0))
            return number;
    }
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
