/* losers.h: weak definitions that lost to an earlier cubin's, and what is left of them. */
#ifndef MINILINK_MERGE_LOSERS_H
#define MINILINK_MERGE_LOSERS_H

#include "merge/merging.h"

/* Notes which storage belongs to what lost, where relocations are, and which symbols have their
 * address in data that stays. Wants resolved symbols. */
void losers_find(struct merging *m);

/* Whether a symbol is defined in this cubin, but an earlier one's definition counted then. */
static inline bool losers_has(const struct merging *m, size_t file, uint32_t index)
{
    return index < m->cubins[file]->symbol_count && m->has_lost[m->symbol_base[file] + index];
}

/* Whether data of a cubin holds a symbol's address, other than in storage that losers_forget. */
static inline bool losers_points_at(const struct merging *m, size_t file, uint32_t index)
{
    return index < m->cubins[file]->symbol_count && m->is_pointed_at[m->symbol_base[file] + index];
}

/* Whether all variables in a section lost. */
static inline bool losers_own(const struct merging *m, size_t file, size_t section)
{
    return m->loser_storage[m->section_base[file] + section] == STORAGE_LOSERS;
}

/* Whether an address in initialised data is left out, which then holds what the cubin has there
 * (0): it stands in the storage of a variable that lost, in .nv.global.init, where nobody will see
 * it (measured on nvlink 13.0). In .nv.constant3 such addresses stay. */
bool losers_forget(const struct merging *m, size_t file, uint32_t section, uint64_t offset);

#endif
