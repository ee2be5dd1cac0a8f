/* words.c: from the first word to the last: a body looks up each of its spellings once. */
#include "toy/language/words.h"

#include <stddef.h>

#include "base/edit_distance.h"

uint16_t words_find(const struct words *words, struct text name)
{
    for (uint16_t i = 1; i < words->count; i++)
        if (text_equal(words->list[i], name))
            return i;
    return 0;
}

const char *words_name(const struct words *words, uint16_t number)
{
    return words->list[number < words->count ? number : 0].data;
}

const char *words_nearest(const struct words *words, struct text name)
{
    size_t best = (name.size < 3 ? 1 : name.size / 3) + 1;
    const char *result = NULL;

    for (uint16_t i = 1; i < words->count && name.size > 0; i++) {
        size_t edits = edit_distance(name, words->list[i], best);

        if (edits < best) {
            best = edits;
            result = words->list[i].data;
        }
    }
    return result;
}
