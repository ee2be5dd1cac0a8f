/* merging_inputs.h: from the cubins' own indices to the merge's: all sections in order, and what a
 * symbol or section of a cubin became. */
#pragma once

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

/* Sections that several stages look for. Each is of one kind. */
enum input_kind {
    INPUT_OTHER,
    INPUT_RELOCATIONS, /* REL or RELA, and not empty */
    INPUT_INFO,        /* .nv.info, .nv.info.F and their Mercury twins */
    INPUT_SHARED,
    INPUT_CONSTANT, /* of any bank, of the program or a function */
    INPUT_NOTE,
    INPUT_GRAPH,   /* .nv.callgraph, .nv.prototype */
    INPUT_UNIFIED, /* entries of unified tables */
};

/* Finds what does not change: the first symbol and section of each cubin, and the kinds. Comes
 * before all stages. */
void merging_index(struct merging *m);

static inline bool merging_is(const struct merging *m, size_t file, size_t section,
                              enum input_kind kind)
{
    return m->kinds[m->section_base[file] + section] == kind;
}

/* As merging_next, but only to sections of one kind. */
static inline bool merging_next_of(const struct merging *m, struct merging_walk *at,
                                   enum input_kind kind)
{
    for (; at->file < m->count; at->file++, at->index = 0) {
        const uint8_t *kinds = m->kinds + m->section_base[at->file];
        size_t count = m->section_base[at->file + 1] - m->section_base[at->file];

        while (++at->index < count)
            if (kinds[at->index] == kind) {
                at->section = &m->cubins[at->file]->sections[at->index];
                return true;
            }
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

/* Whether that symbol's definition is this one. */
static inline bool merging_defines(const struct merging *m, size_t file, uint32_t index)
{
    uint32_t symbol = merging_symbol(m, file, index);

    return symbol != MERGE_NONE && m->symbols[symbol].file == file &&
           m->symbols[symbol].input == index;
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
