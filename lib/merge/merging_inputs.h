/* merging_inputs.h: from the cubins' own indices to the merge's: all sections in order, and what a
 * symbol or section of a cubin became. */
#ifndef MINILINK_MERGE_MERGING_INPUTS_H
#define MINILINK_MERGE_MERGING_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cubin/cubin.h"
#include "merge/merging.h"
#include "merge/twins.h"

/* A walk over all sections of all cubins, in order. Start with {0}. */
struct merging_walk {
    size_t file;
    uint32_t index; /* of the section in its cubin */
    const struct cubin_section *section;
};

/* Goes on to the next section; false behind the last. */
static inline bool merging_next(const struct merging *m, struct merging_walk *at)
{
    for (at->index++; at->file < m->count; at->file++, at->index = 1)
        if (at->index < m->cubins[at->file]->section_count) {
            at->section = &m->cubins[at->file]->sections[at->index];
            return true;
        }
    return false;
}

/* The merged symbol of a cubin's symbol; MERGE_NONE for section symbols and indices out of range.
 */
static inline uint32_t merging_symbol(const struct merging *m, size_t file, uint32_t index)
{
    if (index >= m->cubins[file]->symbol_count)
        return MERGE_NONE;
    return m->resolved->symbol_of[m->symbol_base[file] + index];
}

/* The function that an input section belongs to, or MERGE_NONE. */
static inline uint32_t merging_owner(const struct merging *m, size_t file, size_t section)
{
    size_t at = m->section_base[file] + section;

    if (m->twins && m->twins->owner_of[at] != MERGE_NONE)
        return m->twins->owner_of[at];
    return m->resolved->owner_of[at];
}

/* An alias's function; any other symbol itself. */
static inline uint32_t merging_canonical(const struct merging *m, uint32_t symbol)
{
    uint32_t alias = m->symbols[symbol].alias;

    return alias == MERGE_NONE ? symbol : alias;
}

/* Whether an input section stays: it belongs to no function, or to a live one defined here. */
static inline bool merging_keeps(const struct merging *m, size_t file, size_t section)
{
    uint32_t owner = merging_owner(m, file, section);

    return owner == MERGE_NONE || (m->is_live[owner] && m->symbols[owner].file == file);
}

#endif
