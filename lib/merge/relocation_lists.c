/* relocation_lists.c: adds to the output's lists of relocations, and says what is wrong with one of
 * the inputs'. minilink-cubin(5), merge rule 11, says which resolved ones -preserve-relocs lists.
 */
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
    const struct section_facts *row;
    uint32_t added = m->out->sections[target].lists[kind];

    if (added != MERGE_NONE)
        return added;
    row = sections_find(type, flags, (struct text){0});
    added = layout_make_row(m, row, relocations_name(m, row, m->out->sections[target].name),
                            MERGE_NONE);
    m->out->sections[added].flags = flags;
    m->out->sections[added].target = target;
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

void relocations_keep(const struct relocation_list *list, uint32_t type, uint32_t symbol,
                      uint32_t section, int64_t addend)
{
    struct merging *m = list->m;
    const struct merged_relocation kept = {
        .offset = list->place.offset + list->relocation->offset,
        .addend = addend,
        .type = type,
        .list = relocations_list(m, list->place.section, list->input->type, list->input->flags),
        .symbol = symbol,
        .section = section,
    };

    relocations_add(m, &kept);
}

/* Whether a resolved relocation of a section of this class is listed. */
static bool is_listed(const struct merging *m, enum section_class class, uint32_t symbol)
{
    bool is_shared = symbol != MERGE_NONE && merged_is_data(&m->symbols[symbol], STO_CUDA_SHARED);

    if (is_shared && m->symbols[symbol].file == MERGE_NONE && !m->request->debug)
        return false;
    if (symbol != MERGE_NONE && m->out->placed[symbol].section != MERGE_NONE &&
        m->out->sections[m->out->placed[symbol].section].class == CLASS_COUNT)
        return false; /* a constant that was moved into the banks of kernels */
    return !merging_is_mercury(m) ||
           (is_shared && (class == CLASS_TEXT || class == CLASS_TWIN_TEXT));
}

void relocations_preserve(const struct relocation_list *list, uint32_t symbol, uint32_t section,
                          int64_t addend)
{
    struct merging *m = list->m;
    enum section_class class = m->out->sections[list->place.section].class;
    bool is_twin = merged_is_twin(class);
    struct merged_relocation resolved = {
        .offset = list->place.offset + list->relocation->offset,
        .addend = addend,
        .type = list->relocation->type,
        .symbol = symbol,
        .section = section,
    };

    if (!m->request->preserve_relocations || !is_listed(m, class, symbol))
        return;
    resolved.list = relocations_list(m, list->place.section,
                                     is_twin ? SHT_CUDA_MERC_RESOLVED_RELA : SHT_CUDA_RESOLVED_RELA,
                                     is_twin ? SHF_INFO_LINK | SHF_CUDA_MERCURY : SHF_INFO_LINK);
    relocations_add(m, &resolved);
}

/* A type that a newer toolkit may have added is no reason to leave all twins out. */
void relocate_refuse(struct relocation_list *list, const char *why)
{
    const struct cubin *cubin = list->cubin;
    const char *name = relocation_types_find(list->relocation->type)->name;
    unsigned maker = cubin_maker(cubin);
    const char *advice =
        list->is_twin
            ? arena_printf(&list->m->arena,
                           ", which CUDA %u.%u made (--binary-kind=sass leaves Mercury's sections "
                           "out)",
                           maker / 10, maker % 10)
            : "";

    diag_error("%s relocation type %#x (%s) against '%.*s' in section '%.*s' of '%s'%s", why,
               list->relocation->type, name ? name : "unknown",
               TEXT_ARG(cubin->symbols[list->relocation->symbol].name),
               TEXT_ARG(list->target->name), cubin->name, advice);
    list->m->failed = true;
}
