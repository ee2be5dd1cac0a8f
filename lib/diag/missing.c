/* missing.c: collects the references to missing symbols, and compares names. */
#include "diag/missing.h"

#include "base/search.h"
#include "diag/demangle.h"

COMPARISON(compare_referrers, struct referrer,
           COMPARE(a->symbol, b->symbol) ?: COMPARE(a->file, b->file) ?: COMPARE(a->by, b->by));

void referrers_add(struct referrers *referrers, struct arena *arena, struct referrer referrer)
{
    /* References to a symbol from one place are often adjacent. */
    if (referrers->count > 0 &&
        compare_referrers(&referrers->list[referrers->count - 1], &referrer) == 0)
        return;
    ARENA_PUSH(arena, referrers->list, referrers->count, referrers->capacity) = referrer;
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

const char *missing_difference(struct text missing, struct text defined)
{
    bool is_c = !text_starts(missing, TEXT("_Z"));
    bool is_other_c = !text_starts(demangle_part(defined), TEXT("_Z"));

    if (is_c == is_other_c)
        return "with other parameters";
    return is_c ? "as C++ does: is an extern \"C\" missing?" : "as C does (extern \"C\")";
}
