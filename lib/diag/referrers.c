/* referrers.c: collects the references to missing symbols, and finds those of one. */
#include "diag/referrers.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/search.h"

COMPARISON(compare_referrers, struct referrer,
           COMPARE(a->symbol, b->symbol) ?: COMPARE(a->file, b->file) ?: COMPARE(a->by, b->by));

void referrers_add(struct referrers *referrers, const struct referrer *referrer)
{
    /* References to a symbol from one place are often adjacent. */
    if (referrers->count > 0 &&
        compare_referrers(&referrers->list[referrers->count - 1], referrer) == 0)
        return;
    ARRAY_PUSH(referrers->list, referrers->count, referrers->capacity) = *referrer;
}

void referrers_sort(struct referrers *referrers)
{
    struct referrer *list = referrers->list;
    size_t kept = 0;

    SORT(list, referrers->count, compare_referrers);
    for (size_t i = 0; i < referrers->count; i++)
        if (kept == 0 || compare_referrers(&list[kept - 1], &list[i]) != 0)
            list[kept++] = list[i];
    referrers->count = kept;
}

size_t referrers_first(const struct referrers *referrers, uint32_t symbol, uint32_t file)
{
    const struct referrer key = {.symbol = symbol, .file = file};

    return SEARCH_FIRST_NOT(referrers->count, at,
                            compare_referrers(&referrers->list[at], &key) < 0);
}

void referrers_free(struct referrers *referrers)
{
    free(referrers->list);
}
