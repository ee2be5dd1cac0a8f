/* referrers.h: the references to missing symbols. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* All three are the caller's numbers. */
struct referrer {
    uint32_t symbol; /* the missing one */
    uint32_t file;
    uint32_t by; /* a symbol of the file */
};

/* Start with {0}. */
struct referrers {
    struct referrer *list;
    size_t count, capacity;
};

void referrers_add(struct referrers *referrers, const struct referrer *referrer);

/* Sorts them by symbol, file and referring symbol, each once. */
void referrers_sort(struct referrers *referrers);

/* The index of the first that refers to `symbol` in `file` or a later file, or where that would be
 * in the sorted list. */
size_t referrers_first(const struct referrers *referrers, uint32_t symbol, uint32_t file);

void referrers_free(struct referrers *referrers);
