/* relocation_lists.c: adds to the output's lists of relocations, and says what is wrong with one of
 * the inputs'. */
#include "base/memory.h"
#include "diag/diag.h"
#include "merge/merge_steps.h"
#include "merge/relocate.h"

unsigned relocations_list_of(uint32_t type)
{
    return type == SHT_REL                                  ? LIST_REL
           : type == SHT_RELA || type == SHT_CUDA_MERC_RELA ? LIST_RELA
                                                            : LIST_RESOLVED;
}

struct text relocations_name(struct merging *m, const struct section_facts *facts,
                             struct text target)
{
    return arena_join(&m->image->arena, (struct text){facts->name.data, facts->name.size - 1},
                      sections_plain_name(target));
}

uint32_t relocations_list(struct merging *m, uint32_t target, uint32_t type, uint64_t flags)
{
    unsigned kind = relocations_list_of(type);
    const struct section_facts *facts;
    struct merged_section list;
    uint32_t added;

    if (m->out->sections[target].lists[kind] != MERGE_NONE)
        return m->out->sections[target].lists[kind];
    facts = sections_find(type, flags, (struct text){0});
    list = (struct merged_section){
        .class = facts->class,
        .name = relocations_name(m, facts, m->out->sections[target].name),
        .type = type,
        .flags = flags,
        .alignment = facts->alignment,
        .entry_size = facts->entry_size,
        .function = MERGE_NONE,
        .target = target,
    };
    added = layout_add(m, &list);
    m->out->sections[target].lists[kind] = added;
    return added;
}

void relocations_add(struct merging *m, const struct merged_relocation *relocation)
{
    struct merged_section *list = &m->out->sections[relocation->list];

    ARRAY_PUSH(m->out->relocations.items, m->out->relocations.count, m->out->relocations.capacity) =
        *relocation;
    list->size += list->entry_size;
}

/* A type that a newer toolkit may have added is no reason to leave all twins out. */
void relocate_refuse(struct relocation_list *list, const struct cubin_relocation *relocation,
                     const char *why)
{
    const struct cubin *cubin = list->cubin;
    const char *name = relocation_types_find(relocation->type)->name;
    unsigned maker = cubin_maker(cubin);
    const char *advice =
        list->is_twin
            ? arena_printf(&list->part->contents,
                           ", which CUDA %u.%u made (--binary-kind=sass leaves Mercury's sections "
                           "out)",
                           maker / 10, maker % 10)
            : "";

    diag_error("%s relocation type %#x (%s) against '%.*s' in section '%.*s' of '%s'%s", why,
               relocation->type, name ? name : "unknown",
               TEXT_ARG(cubin->symbols[relocation->symbol].name), TEXT_ARG(list->target->name),
               cubin->name, advice);
    list->part->failed = true;
}
