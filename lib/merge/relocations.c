/* relocations.c: one array for all lists, so that what is read in one order is written in another
 * without sorting. */
#include "merge/relocations.h"

#include "base/memory.h"
#include "merge/layout.h"

uint32_t relocations_add_list(struct merging *m, struct text name, uint32_t type, uint64_t flags,
                              uint32_t target)
{
    bool is_twin = type == SHT_CUDA_MERC_RELA || type == SHT_CUDA_MERC_RESOLVED_RELA;

    return layout_add(m, &(struct merged_section){
                             .class = is_twin ? CLASS_TWIN_RELOCATIONS : CLASS_RELOCATIONS,
                             .name = name,
                             .type = type,
                             .flags = flags,
                             .alignment = 8,
                             .entry_size = type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela),
                             .function = MERGE_NONE,
                             .target = target,
                         });
}

void relocations_reserve(struct merging *m)
{
    size_t count = 0;

    for (size_t file = 0; file < m->count; file++)
        count += m->cubins[file]->relocation_count;
    ARRAY_RESERVE(m->relocations.items, m->relocations.capacity, count);
}

void relocations_add(struct merging *m, const struct merged_relocation *relocation)
{
    struct merged_relocations *all = &m->relocations;
    struct merged_section *list = &m->sections[relocation->list];

    ARRAY_PUSH(all->items, all->count, all->capacity) = *relocation;
    list->size += list->entry_size;
}

bool relocations_forget_losers(struct text section)
{
    static const char *const names[] = {"debug_line", "debug_frame", "nv_debug_line_sass"};

    if (!text_skip(&section, TEXT(".nv.merc.")) && !text_skip(&section, TEXT(".")))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_equal(section, text_of(names[i])))
            return true;
    return false;
}

bool relocations_is_unknown_size(const struct cubin_symbol *symbol)
{
    return symbol->section == SHN_UNDEF && text_equal(symbol->name, TEXT(".nv.ptx.const0.size"));
}
