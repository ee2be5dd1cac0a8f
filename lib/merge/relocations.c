/* relocations.c: relocates all sections, and writes the output's lists of relocations.
 *
 * Mercury's twins are relocated first, since one that cannot be handled leaves out all. One array
 * gets all relocations that are kept, so that they are read in one order and written in another,
 * the last one first, without sorting. */
#include "base/memory.h"
#include "diag/diag.h"
#include "merge/merge_steps.h"
#include "merge/relocate.h"

/* Sets *list for a relocation section. False if its target is not in the output. */
static bool begin_list(struct relocation_list *list, struct merging *m, size_t file, size_t index)
{
    const struct cubin *cubin = m->cubins[file];
    const struct cubin_section *input = &cubin->sections[index];
    const struct cubin_section *target = &cubin->sections[input->info];

    *list = (struct relocation_list){
        .m = m,
        .file = file,
        .cubin = cubin,
        .input = input,
        .target = target,
        .place = *merging_place(m, file, input->info),
        .storage = input->info,
        .is_twin = input->type == SHT_CUDA_MERC_RELA,
        .is_twin_code = target->type == SHT_CUDA_CAPMERC,
        .has_addends = input->type != SHT_REL,
    };
    return input->relocation_count > 0 && merging_keeps(m, file, input->info) &&
           list->place.section != MERGE_NONE;
}

static void relocate_plain(struct merging *m, size_t file, size_t index)
{
    struct relocation_list list;

    if (!begin_list(&list, m, file, index))
        return;
    /* Mercury's twins have lists of their own kind. */
    list.relocation = &list.input->relocations[0];
    if (m->out->sections[list.place.section].class >= CLASS_TWIN_TEXT)
        relocate_refuse(&list, "Misplaced");
    else
        relocate_list(&list, list.place);
}

/* By section of the cubin: the RELA section that relocates it, or 0. */
static uint32_t *find_lists(struct merging *m, size_t file)
{
    const struct cubin *cubin = m->cubins[file];
    uint32_t *lists = arena_zalloc(&m->arena, cubin->section_count, sizeof *lists);

    for (uint32_t i = 1; i < cubin->section_count; i++)
        if (cubin->sections[i].type == SHT_RELA)
            lists[cubin->sections[i].info] = i;
    return lists;
}

/* Constants that moved into kernels' banks are relocated in each of them. */
static void relocate_twin(struct merging *m, const uint32_t *lists, size_t file, size_t index)
{
    struct relocation_list list;
    enum section_class class;
    uint32_t plain;
    size_t i;

    if (!begin_list(&list, m, file, index))
        return;
    class = m->out->sections[list.place.section].class;
    list.storage =
        class == CLASS_TWIN_GLOBAL_INIT ? cubin_find_class(list.cubin, CLASS_GLOBAL_INIT) : 0;
    if (list.is_twin_code)
        list.plain = &list.cubin->sections[lists[list.cubin->symbols[list.target->info].section]];
    if (class != CLASS_COUNT) {
        relocate_list(&list, list.place);
        return;
    }
    plain = m->out->sections[list.place.section].target;
    i = plain == MERGE_NONE ? m->out->constant_count : m->out->sections[plain].copies;
    for (; m->out->has_twins && i < m->out->constant_count && m->out->constants[i].from == plain;
         i++)
        relocate_list(&list, (struct merged_place){m->out->sections[m->out->constants[i].to].twin,
                                                   m->out->constants[i].offset});
}

static void relocate_twins(struct merging *m)
{
    for (size_t file = 0; m->out->has_twins && file < m->count; file++) {
        const uint32_t *lists = find_lists(m, file);

        for (size_t i = 1; m->out->has_twins && i < m->cubins[file]->section_count; i++)
            if (m->cubins[file]->sections[i].type == SHT_CUDA_MERC_RELA)
                relocate_twin(m, lists, file, i);
    }
}

static bool has_list(const struct merged_section *section)
{
    return section->lists[LIST_REL] != MERGE_NONE || section->lists[LIST_RELA] != MERGE_NONE;
}

/* Adds an empty relocation section for a section if only its twin has relocations (measured on
 * nvlink). */
static void add_empty_lists(struct merging *m)
{
    size_t count = m->out->section_count;

    for (uint32_t i = 0; m->out->has_twins && i < count; i++) {
        const struct merged_section *section = &m->out->sections[i];

        if (section->twin != MERGE_NONE && has_list(&m->out->sections[section->twin]) &&
            !has_list(section))
            layout_list(m, i, SHT_RELA, SHF_INFO_LINK);
    }
}

bool relocations_make(struct merging *m)
{
    size_t count = 0;

    for (size_t file = 0; file < m->count; file++)
        count += m->cubins[file]->relocation_count;
    ARRAY_RESERVE(m->out->relocations.items, m->out->relocations.capacity, count);
    relocate_twins(m);
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_RELOCATIONS);) {
        if (!merging_is_mercury(m))
            texture_relocate(m, at.file + 1);
        relocate_plain(m, at.file, at.index);
    }
    texture_relocate(m, m->count);
    if (!m->failed)
        add_empty_lists(m);
    return !m->failed;
}

static void encode_one(struct merging *m, const struct merged_relocation *relocation, uint64_t *at)
{
    struct merged_section *list = &m->out->sections[relocation->list];
    bool is_section = relocation->symbol == MERGE_NONE;
    uint64_t row = is_section ? m->out->sections[relocation->section].row
                              : m->out->rows.of_symbol[relocation->symbol];
    uint64_t words[3] = {relocation->offset, row << 32 | relocation->type,
                         (uint64_t)relocation->addend};

    if (!list->own)
        list->data = list->own = arena_alloc(&m->image->arena, list->size, 1);
    memcpy(list->own + *at, words, list->entry_size);
    *at += list->entry_size;
    if (row == 0)
        MERGING_ERROR(m,
                      "Relocation type %#x in '%.*s' is against '%.*s', which is not in the output",
                      relocation->type, TEXT_ARG(list->name),
                      TEXT_ARG(is_section ? m->out->sections[relocation->section].name
                                          : m->symbols[relocation->symbol].name));
}

void relocations_write(struct merging *m)
{
    uint64_t *written = arena_zalloc(&m->arena, m->out->section_count, sizeof *written);

    for (size_t i = m->out->relocations.count; i-- > 0;) {
        const struct merged_relocation *relocation = &m->out->relocations.items[i];

        if (m->out->sections[relocation->list].index)
            encode_one(m, relocation, &written[relocation->list]);
    }
}
