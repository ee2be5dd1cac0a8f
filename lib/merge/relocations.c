/* relocations.c: one array for all lists, so that what is read in one order is written in another
 * without sorting. */
#include "merge/relocations.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "merge/layout.h"
#include "merge/symtab.h"

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
    struct text mark = TEXT(".nv.merc.");
    size_t skipped = text_starts(section, mark) ? mark.size : text_starts(section, TEXT("."));
    struct text rest = {section.data + skipped, section.size - skipped};

    for (size_t i = 0; skipped && i < sizeof names / sizeof *names; i++)
        if (text_equal(rest, text_of(names[i])))
            return true;
    return false;
}

static bool encode_one(struct merging *m, const struct merged_relocation *relocation, uint64_t *at)
{
    struct merged_section *list = &m->sections[relocation->list];
    bool is_section = relocation->symbol == MERGE_NONE;
    uint64_t row = is_section ? m->rows->of_section[relocation->section]
                              : m->rows->of_symbol[relocation->symbol];
    uint64_t words[3] = {relocation->offset, row << 32 | relocation->type,
                         (uint64_t)relocation->addend};

    memcpy(list->own + *at, words, list->entry_size);
    *at += list->entry_size;
    if (row == 0) {
        diag_error("Relocation type %#x in '%.*s' is against '%.*s', which is not in the output",
                   relocation->type, TEXT_ARG(list->name),
                   TEXT_ARG(is_section ? m->sections[relocation->section].name
                                       : m->symbols[relocation->symbol].name));
        m->failed = true;
    }
    return row != 0;
}

bool relocations_encode(struct merging *m)
{
    const struct merged_relocations *all = &m->relocations;
    uint64_t *written = arena_zalloc(&m->arena, m->section_count, sizeof *written);

    for (size_t i = 0; i < m->section_count; i++) {
        struct merged_section *section = &m->sections[i];

        if (section->class != CLASS_RELOCATIONS && section->class != CLASS_TWIN_RELOCATIONS)
            continue;
        section->own = arena_alloc(&m->image->arena, section->size, 1);
        section->data = section->own;
    }
    for (size_t i = all->count; i-- > 0;)
        if (m->sections[all->items[i].list].index)
            encode_one(m, &all->items[i], &written[all->items[i].list]);
    return !m->failed;
}

void relocations_free(struct merged_relocations *relocations)
{
    free(relocations->items);
}
