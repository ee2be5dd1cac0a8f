/* relocations_write.c: only now, with the symbol table's rows known, can relocations name their
 * symbols. */
#include "merge/merge_steps.h"

#include <string.h>

#include "diag/diag.h"
#include "merge/ordering.h"
#include "merge/symtab.h"

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

static void make_room(struct merging *m, enum merged_class class)
{
    for (uint32_t i = m->classes->first[class]; i < m->classes->first[class + 1]; i++) {
        struct merged_section *section = &m->sections[m->classes->items[i]];

        section->own = arena_alloc(&m->image->arena, section->size, 1);
        section->data = section->own;
    }
}

bool relocations_write(struct merging *m)
{
    const struct merged_relocations *all = &m->relocations;
    uint64_t *written = arena_zalloc(&m->arena, m->section_count, sizeof *written);

    make_room(m, CLASS_RELOCATIONS);
    make_room(m, CLASS_TWIN_RELOCATIONS);
    for (size_t i = all->count; i-- > 0;)
        if (m->index_of[all->items[i].list])
            encode_one(m, &all->items[i], &written[all->items[i].list]);
    return !m->failed;
}
