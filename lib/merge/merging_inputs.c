/* merging_inputs.c: numbers and kinds of all sections, found in one walk, so that stages which want
 * a few of them need not look at all others' headers again. */
#include "merge/merging_inputs.h"

static uint8_t kind_of(const struct cubin_section *section)
{
    if (section->relocation_count > 0)
        return INPUT_RELOCATIONS;
    switch (section->type) {
    case SHT_CUDA_INFO:
    case SHT_CUDA_MERC_INFO:
        return INPUT_INFO;
    case SHT_CUDA_SHARED:
        return INPUT_SHARED;
    case SHT_NOTE:
        return INPUT_NOTE;
    case SHT_CUDA_CALLGRAPH:
    case SHT_CUDA_PROTOTYPE:
        return INPUT_GRAPH;
    case SHT_CUDA_UFT_ENTRY:
    case SHT_CUDA_UDT_ENTRY:
        return INPUT_UNIFIED;
    default:
        return format_is_constant(section->type) ? INPUT_CONSTANT : INPUT_OTHER;
    }
}

void merging_index(struct merging *m)
{
    size_t *symbol_base = arena_alloc(&m->arena, m->count + 1, sizeof *symbol_base);
    size_t *section_base = arena_alloc(&m->arena, m->count + 1, sizeof *section_base);
    uint8_t *kinds, *kind;
    size_t symbols = 0;
    size_t sections = 0;

    for (size_t file = 0; file < m->count; file++) {
        symbol_base[file] = symbols;
        section_base[file] = sections;
        symbols += m->cubins[file]->symbol_count;
        sections += m->cubins[file]->section_count;
    }
    symbol_base[m->count] = symbols;
    section_base[m->count] = sections;
    kind = kinds = arena_alloc(&m->arena, sections, sizeof *kinds);
    for (size_t file = 0; file < m->count; file++)
        for (size_t i = 0; i < m->cubins[file]->section_count; i++)
            *kind++ = kind_of(&m->cubins[file]->sections[i]);
    m->symbol_base = symbol_base;
    m->section_base = section_base;
    m->kinds = kinds;
}
