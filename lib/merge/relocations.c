/* relocations.c: the lists of relocations.
 *
 * Groups of files are relocated in parallel, since a cubin's relocations only change its own
 * fields; Mercury's twins before them, since one that cannot be handled leaves out all. Then one
 * array gets all that are kept, so that they are read in one order and written in another, the last
 * one first, without sorting.
 *
 * Resolved relocations are listed for -preserve-relocs as measured on nvlink: with the input's
 * types, always with addends, which are 0 if the field has the addend. Up to sm_90 those against
 * shared variables, constants and, in debug sections, sections are listed; from sm_100 on only
 * those against shared variables in code and in its Mercury twin. Not listed are cleared ranges of
 * dead functions, words of texture references and, except under -g, `.extern .shared` arrays. */
#include <stdlib.h>

#include "base/context.h"
#include "base/memory.h"
#include "diag/diag.h"
#include "merge/merge_steps.h"
#include "merge/relocate.h"

/* Whether a resolved relocation of this kind is listed. */
static bool is_listed(const struct merging *m, uint32_t target,
                      const struct merged_relocation *relocation)
{
    const struct merged_symbol *symbol =
        relocation->symbol == MERGE_NONE ? NULL : &m->symbols[relocation->symbol];
    enum section_class class = m->out->sections[target].class;
    bool is_shared = symbol && merged_is_data(symbol, STO_CUDA_SHARED);

    if (is_shared && symbol->file == MERGE_NONE && !m->request->debug)
        return false;
    if (symbol && m->out->placed[relocation->symbol].section != MERGE_NONE &&
        m->out->sections[m->out->placed[relocation->symbol].section].class == CLASS_COUNT)
        return false; /* a constant that was moved into the banks of kernels */
    return !merging_is_mercury(m) ||
           (is_shared && (class == CLASS_TEXT || class == CLASS_TWIN_TEXT));
}

static void add_resolved(struct merging *m, uint32_t target, struct merged_relocation *relocation)
{
    bool is_twin = merged_is_twin(m->out->sections[target].class);

    if (!is_listed(m, target, relocation))
        return;
    relocation->list =
        relocations_list(m, target, is_twin ? SHT_CUDA_MERC_RESOLVED_RELA : SHT_CUDA_RESOLVED_RELA,
                         is_twin ? SHF_INFO_LINK | SHF_CUDA_MERCURY : SHF_INFO_LINK);
    relocations_add(m, relocation);
}

/* The last part has those of twins. */
struct relocating {
    struct merging *m;
    struct relocation_part parts[SPREAD_MOST + 1];
};

/* Sets *list for a relocation section. False if its target is not in the output. */
static bool begin_list(struct relocation_list *list, struct merging *m,
                       struct relocation_part *part, size_t file, size_t index)
{
    const struct cubin *cubin = m->cubins[file];
    const struct cubin_section *input = &cubin->sections[index];
    const struct cubin_section *target = &cubin->sections[input->info];

    *list = (struct relocation_list){
        .m = m,
        .part = part,
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
    return cubin_relocation_count(input) > 0 && merging_keeps(m, file, input->info) &&
           list->place.section != MERGE_NONE;
}

static void relocate_plain(struct merging *m, struct relocation_part *part, size_t file,
                           size_t index)
{
    struct relocation_list list;

    if (!begin_list(&list, m, part, file, index))
        return;
    /* Mercury's twins have lists of their own kind. */
    if (m->out->sections[list.place.section].class >= CLASS_TWIN_TEXT)
        relocate_refuse(&list, &list.input->relocations[0], "Misplaced");
    else
        relocate_list(&list, list.place);
}

static void relocate_files(void *argument, size_t number, size_t first, size_t last)
{
    struct relocating *relocating = argument;
    struct merging *m = relocating->m;
    struct relocation_part *part = &relocating->parts[number];
    size_t count = 0;

    for (size_t file = first; file < last; file++)
        count += m->cubins[file]->relocation_count;
    ARRAY_RESERVE(part->found, part->capacity, count);
    for (size_t file = first; file < last; file++)
        for (size_t i = 1; i < m->cubins[file]->section_count; i++)
            if (merging_is(m, file, i, INPUT_RELOCATIONS))
                relocate_plain(m, part, file, i);
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
static void relocate_twin(struct merging *m, struct relocation_part *part, const uint32_t *lists,
                          size_t file, size_t index)
{
    struct relocation_list list;
    const struct merged_section *section;
    size_t i;

    if (!begin_list(&list, m, part, file, index))
        return;
    section = &m->out->sections[list.place.section];
    list.storage = section->class == CLASS_TWIN_GLOBAL_INIT
                       ? cubin_find_class(list.cubin, CLASS_GLOBAL_INIT)
                       : 0;
    if (list.is_twin_code)
        list.plain = &list.cubin->sections[lists[list.cubin->symbols[list.target->info].section]];
    if (section->class != CLASS_COUNT) {
        relocate_list(&list, list.place);
        return;
    }
    i = section->target == MERGE_NONE ? m->out->constant_count
                                      : m->out->sections[section->target].copies;
    for (; m->out->has_twins && i < m->out->constant_count &&
           m->out->constants[i].from == section->target;
         i++)
        relocate_list(&list, (struct merged_place){m->out->sections[m->out->constants[i].to].twin,
                                                   m->out->constants[i].offset});
}

static void relocate_twins(struct merging *m, struct relocation_part *part)
{
    for (size_t file = 0; m->out->has_twins && file < m->count; file++) {
        const uint32_t *lists = find_lists(m, file);

        for (size_t i = 1; m->out->has_twins && i < m->cubins[file]->section_count; i++)
            if (m->cubins[file]->sections[i].type == SHT_CUDA_MERC_RELA)
                relocate_twin(m, part, lists, file, i);
    }
}

/* State while the output's lists are made. */
struct joining {
    struct merging *m;
    size_t file;   /* the words of kernels in earlier files have been relocated: */
    size_t kernel; /* their number */
};

static void join_words(struct joining *joining, size_t end)
{
    for (; joining->file < end; joining->file++)
        texture_relocate(joining->m, joining->file, &joining->kernel);
}

/* Adds the relocations that the part found in a list, from `first` on, to the output's list. */
static void join_list(struct merging *m, const struct relocation_part *part,
                      const struct found_list *list, size_t first)
{
    uint32_t merged = MERGE_NONE;

    for (size_t i = first; i < list->end; i++) {
        struct merged_relocation *found = &part->found[i];

        if (found->list == FOUND_RESOLVED) {
            add_resolved(m, list->target, found);
            continue;
        }
        if (merged == MERGE_NONE)
            merged = relocations_list(m, list->target, list->input->type, list->input->flags);
        found->list = merged;
        relocations_add(m, found);
    }
}

static void join_part(struct joining *joining, struct relocation_part *part)
{
    struct merging *m = joining->m;
    size_t first = 0;

    for (size_t i = 0; i < part->list_count; i++) {
        if (!merging_is_mercury(m))
            join_words(joining, part->lists[i].file + 1);
        join_list(m, part, &part->lists[i], first);
        first = part->lists[i].end;
    }
    arena_take(&m->image->arena, &part->contents);
    m->failed |= part->failed;
}

static void free_parts(void *argument)
{
    struct relocating *relocating = argument;

    for (size_t i = 0; i <= SPREAD_MOST; i++) {
        arena_free(&relocating->parts[i].contents);
        free(relocating->parts[i].found);
        free(relocating->parts[i].lists);
    }
}

bool relocations_make(struct merging *m)
{
    struct joining joining = {.m = m};
    struct relocating relocating = {.m = m};
    size_t least_files = m->count / (m->section_base[m->count] / IMAGE_WORTH_A_THREAD + 1) + 1;
    size_t count = 0;

    CONTEXT_DEFER(free_parts, &relocating);
    relocate_twins(m, &relocating.parts[SPREAD_MOST]);
    for (size_t file = 0; file < m->count; file++)
        count += m->cubins[file]->relocation_count;
    ARRAY_RESERVE(m->out->relocations.items, m->out->relocations.capacity, count);
    spread_run(&m->request->spread, m->count, least_files, relocate_files, &relocating);
    for (size_t i = 0; i <= SPREAD_MOST; i++)
        join_part(&joining, &relocating.parts[i]);
    join_words(&joining, m->count);
    return !m->failed;
}

static bool has_list(const struct merged_section *section)
{
    return section->lists[LIST_REL] != MERGE_NONE || section->lists[LIST_RELA] != MERGE_NONE;
}

void relocations_add_twins(struct merging *m)
{
    size_t count = m->out->section_count;

    for (uint32_t i = 0; m->out->has_twins && i < count; i++) {
        const struct merged_section *section = &m->out->sections[i];

        if (section->twin != MERGE_NONE && has_list(&m->out->sections[section->twin]) &&
            !has_list(section))
            relocations_list(m, i, SHT_RELA, SHF_INFO_LINK);
    }
}

static void encode_one(struct merging *m, const struct merged_relocation *relocation, uint64_t *at)
{
    struct merged_section *list = &m->out->sections[relocation->list];
    bool is_section = relocation->symbol == MERGE_NONE;
    uint64_t row = is_section ? m->out->sections[relocation->section].row
                              : m->out->rows.of_symbol[relocation->symbol];
    uint64_t words[3] = {relocation->offset, row << 32 | relocation->type,
                         (uint64_t)relocation->addend};

    memcpy(list->own + *at, words, list->entry_size);
    *at += list->entry_size;
    if (row == 0)
        MERGING_ERROR(m,
                      "Relocation type %#x in '%.*s' is against '%.*s', which is not in the output",
                      relocation->type, TEXT_ARG(list->name),
                      TEXT_ARG(is_section ? m->out->sections[relocation->section].name
                                          : m->symbols[relocation->symbol].name));
}

static void make_room(struct merging *m, enum section_class class)
{
    for (uint32_t i = m->out->classes.first[class]; i < m->out->classes.first[class + 1]; i++) {
        struct merged_section *section = &m->out->sections[m->out->classes.items[i]];

        section->own = arena_alloc(&m->image->arena, section->size, 1);
        section->data = section->own;
    }
}

void relocations_write(struct merging *m)
{
    uint64_t *written = arena_zalloc(&m->arena, m->out->section_count, sizeof *written);

    make_room(m, CLASS_RELOCATIONS);
    make_room(m, CLASS_TWIN_RELOCATIONS);
    for (size_t i = m->out->relocations.count; i-- > 0;) {
        const struct merged_relocation *relocation = &m->out->relocations.items[i];

        if (m->out->sections[relocation->list].index)
            encode_one(m, relocation, &written[relocation->list]);
    }
}
