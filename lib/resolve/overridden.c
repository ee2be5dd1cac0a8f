/* overridden.c: weak definitions that lost to an earlier cubin's, and their remains.
 *
 * Code of a losing copy is removed with its section. A losing variable's storage lies between that
 * of others: zeroed storage is removed only if its whole section lost; initialised storage is kept,
 * without the addresses in it.
 *
 * nvlink leaves out more: in .nv.constant3 the address of everything that lost in this cubin or was
 * replaced by a later one, and in .nv.global.init that of functions that lost and that nothing else
 * keeps. Programs then read 0 for the address of the winning definition. minilink does not. */
#include "resolve/internal.h"

COMPARISON(compare_ranges, struct lost_range,
           COMPARE(a->file, b->file) ?: COMPARE(a->section, b->section)
               ?: COMPARE(a->begin, b->begin));

static void note_storage(struct merging *m, size_t file, uint32_t index)
{
    const struct cubin *cubin = m->cubins[file];
    const struct cubin_symbol *symbol = &cubin->symbols[index];
    bool has_lost = overridden_has_lost(m, file, index);
    enum storage *storage;

    if (symbol->type == STT_SECTION || symbol->section >= cubin->section_count)
        return;
    storage = &m->losses.storage[m->section_base[file] + symbol->section];
    if (!has_lost)
        *storage = STORAGE_WINNERS;
    else if (*storage == STORAGE_EMPTY)
        *storage = STORAGE_LOSERS;
    if (has_lost && symbol->type == STT_CUDA_OBJECT && symbol->size > 0)
        ARENA_PUSH(&m->arena, m->losses.ranges, m->losses.range_count, m->losses.range_capacity) =
            (struct lost_range){(uint32_t)file, symbol->section, symbol->value,
                                symbol->value + symbol->size};
}

static void sort_ranges(struct lost_range *ranges, size_t count)
{
    SORT(ranges, count, compare_ranges);
    for (size_t i = 1; i < count; i++) {
        const struct lost_range *before = &ranges[i - 1];
        struct lost_range *range = &ranges[i];

        if (before->file == range->file && before->section == range->section &&
            before->end > range->end)
            range->end = before->end;
    }
}

/* Notes the symbols whose addresses are in a section, if it is data that is never removed. */
static void note_addresses(struct merging *m, size_t file, const struct cubin_section *list)
{
    m->losses.is_relocated[m->section_base[file] + list->info] = true;
    if (merging_owner(m, file, list->info) != MERGE_NONE ||
        !(m->cubins[file]->sections[list->info].flags & SHF_ALLOC))
        return;
    for (size_t i = 0; i < list->relocation_count; i++) {
        const struct cubin_relocation *relocation = &list->relocations[i];

        if (!overridden_stays_zero(m, file, list->info, relocation->offset))
            m->losses.is_pointed_at[m->symbol_base[file] + relocation->symbol] = true;
    }
}

void overridden_find(struct merging *m)
{
    size_t sections = m->section_base[m->count];

    m->losses.storage = arena_zalloc(&m->arena, sections, sizeof *m->losses.storage);
    m->losses.is_relocated = arena_zalloc(&m->arena, sections, sizeof(bool));
    m->losses.is_pointed_at = arena_zalloc(&m->arena, m->symbol_base[m->count], sizeof(bool));
    for (size_t file = 0; file < m->count; file++)
        for (uint32_t i = 1; i < m->cubins[file]->symbol_count; i++)
            note_storage(m, file, i);
    sort_ranges(m->losses.ranges, m->losses.range_count);
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_RELOCATIONS);)
        note_addresses(m, at.file, at.section);
}

bool overridden_stays_zero(const struct merging *m, size_t file, uint32_t section, uint64_t offset)
{
    size_t low;
    struct lost_range place = {.file = (uint32_t)file, .section = section, .begin = offset};

    if (m->losses.range_count == 0 ||
        m->cubins[file]->sections[section].type != SHT_CUDA_GLOBAL_INIT)
        return false;
    /* The first range that begins after the offset; the one before it may contain it. */
    low = SEARCH_FIRST_NOT(m->losses.range_count, i,
                           compare_ranges(&m->losses.ranges[i], &place) <= 0);
    return low > 0 && m->losses.ranges[low - 1].file == place.file &&
           m->losses.ranges[low - 1].section == section && m->losses.ranges[low - 1].end > offset;
}

bool overridden_replaced(const struct merging *m, size_t file, uint32_t index, uint32_t symbol)
{
    const struct cubin *cubin = m->cubins[file];
    const struct merged_symbol *merged = &m->symbols[symbol];
    uint32_t section = cubin->symbols[index].section;

    return cubin_has_section(cubin, section) && merged->file != MERGE_NONE && merged->file > file;
}

bool overridden_had_relocations(const struct merging *m, size_t file, uint32_t index)
{
    return m->losses.is_relocated[m->section_base[file] + m->cubins[file]->symbols[index].section];
}

bool overridden_empties_range(const struct merging *m, size_t file, uint32_t index, uint32_t symbol)
{
    return m->symbols[symbol].file == file ||
           (overridden_replaced(m, file, index, symbol) &&
            !overridden_had_relocations(m, file, index) && !overridden_has_lost(m, file, index));
}
