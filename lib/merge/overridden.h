/* overridden.h: weak definitions that lost to an earlier cubin's, and what is left of them. */
#pragma once

#include "merge/merging.h"

/* Whose storage an input section is. */
enum storage { STORAGE_EMPTY, STORAGE_LOSERS, STORAGE_WINNERS };

/* A stretch of a cubin's section; it ends where it or one in front of it ends last. */
struct lost_range {
    uint32_t file;
    uint32_t section;
    uint64_t begin;
    uint64_t end;
};

struct losses {
    const struct lost_range *ranges; /* storage of variables that lost, sorted */
    size_t range_count;
    const enum storage *storage; /* by input section */
    const bool *is_pointed_at;   /* by input symbol: data that stays holds its address */
    const bool *is_relocated;    /* by input section: there are relocations in it */
};

/* Fills m->losses. Wants resolved symbols. */
void overridden_find(struct merging *m);

/* Whether a symbol is defined in this cubin, but an earlier one's definition counted then. */
static inline bool overridden_has(const struct merging *m, size_t file, uint32_t index)
{
    return index < m->cubins[file]->symbol_count &&
           m->resolved->has_lost[m->symbol_base[file] + index];
}

/* Whether data of a cubin holds a symbol's address, other than in storage that overridden_forget.
 */
static inline bool overridden_points_at(const struct merging *m, size_t file, uint32_t index)
{
    return index < m->cubins[file]->symbol_count &&
           m->losses->is_pointed_at[m->symbol_base[file] + index];
}

/* Whether all variables in a section lost. */
static inline bool overridden_own(const struct merging *m, size_t file, size_t section)
{
    return m->losses->storage[m->section_base[file] + section] == STORAGE_LOSERS;
}

/* Whether symbol `index` of a cubin, which became `symbol`, is defined there, but a later cubin's
 * definition replaced it. */
bool overridden_replaced(const struct merging *m, size_t file, uint32_t index, uint32_t symbol);

/* Whether there were relocations in the code of such a function. */
bool overridden_had_relocations(const struct merging *m, size_t file, uint32_t index);

/* Whether debug information empties the range of a function that goes: where it counted, or was
 * replaced by a later cubin's and had no relocations in its code; not where it lost before
 * (measured). */
bool overridden_empty(const struct merging *m, size_t file, uint32_t index, uint32_t symbol);

/* Whether an address in initialised data is left out, which then holds what the cubin has there
 * (0): it stands in the storage of a variable that lost, in .nv.global.init, where nobody will see
 * it (measured on nvlink 13.0). In .nv.constant3 such addresses stay. */
bool overridden_forget(const struct merging *m, size_t file, uint32_t section, uint64_t offset);
