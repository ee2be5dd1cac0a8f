/* relocations.c: one array holds all lists, so that they are read in one order and written in
 * another without sorting.
 *
 * Resolved relocations are listed for -preserve-relocs as measured on nvlink: with the input's
 * types, always with addends, which are 0 if the field has the addend. Up to sm_90 those against
 * shared variables, constants and, in debug sections, sections are listed; from sm_100 on only
 * those against shared variables in code and in its Mercury twin. Not listed are cleared ranges of
 * dead functions, words of texture references and, except under -g, `.extern .shared` arrays. */
#include "merge/merge_steps.h"

#include "base/memory.h"
#include "diag/diag.h"

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
    struct merged_section *list = &m->sections[relocation->list];

    ARRAY_PUSH(m->relocations.items, m->relocations.count, m->relocations.capacity) = *relocation;
    list->size += list->entry_size;
}

static uint32_t add_resolved_list(struct merging *m, uint32_t target)
{
    const struct merged_section *section = &m->sections[target];
    bool is_twin = merged_is_twin(section->class);
    struct text plain = is_twin ? cubin_twin_plain_name(section->name) : section->name;
    char *name = arena_printf(&m->image->arena, "%s.nv.resolvedrela%.*s", is_twin ? ".nv.merc" : "",
                              TEXT_ARG(plain));

    return relocations_add_list(m, text_of(name),
                                is_twin ? SHT_CUDA_MERC_RESOLVED_RELA : SHT_CUDA_RESOLVED_RELA,
                                is_twin ? SHF_INFO_LINK | SHF_CUDA_MERCURY : SHF_INFO_LINK, target);
}

/* Whether a resolved relocation of this kind is listed. */
static bool is_listed(const struct merging *m, uint32_t target,
                      const struct merged_relocation *relocation)
{
    const struct merged_symbol *symbol =
        relocation->symbol == MERGE_NONE ? NULL : &m->symbols[relocation->symbol];
    enum section_class class = m->sections[target].class;
    bool is_shared = symbol && merged_is_data(symbol, STO_CUDA_SHARED);

    if (is_shared && symbol->file == MERGE_NONE && !m->request->debug)
        return false;
    if (symbol && m->placed[relocation->symbol].section != MERGE_NONE &&
        m->sections[m->placed[relocation->symbol].section].class == CLASS_COUNT)
        return false; /* a constant that was moved into the banks of kernels */
    return !merging_is_mercury(m) ||
           (is_shared && (class == CLASS_TEXT || class == CLASS_TWIN_TEXT));
}

void relocations_add_resolved(struct merging *m, uint32_t target,
                              const struct merged_relocation *relocation)
{
    struct merged_relocation listed = *relocation;

    if (!m->request->preserve_relocations || !is_listed(m, target, relocation))
        return;
    listed.list = m->sections[target].lists[LIST_RESOLVED];
    if (listed.list == MERGE_NONE) {
        listed.list = add_resolved_list(m, target);
        m->sections[target].lists[LIST_RESOLVED] = listed.list;
    }
    relocations_add(m, &listed);
}

bool relocations_forget_losers(const struct merging *m, struct text section)
{
    static const char *const names[] = {"debug_line", "debug_frame", "nv_debug_line_sass"};

    if (!toolkit_does(m->request->toolkit, TOOLKIT_FORGETS_LOST_COPIES) ||
        (!text_skip(&section, TEXT(".nv.merc.")) && !text_skip(&section, TEXT("."))))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_equal(section, text_of(names[i])))
            return true;
    return false;
}

bool relocations_is_constants_size(const struct cubin_symbol *symbol)
{
    return symbol->section == SHN_UNDEF && text_equal(symbol->name, TEXT(".nv.ptx.const0.size"));
}

static void encode_one(struct merging *m, const struct merged_relocation *relocation, uint64_t *at)
{
    struct merged_section *list = &m->sections[relocation->list];
    bool is_section = relocation->symbol == MERGE_NONE;
    uint64_t row =
        is_section ? m->sections[relocation->section].row : m->rows.of_symbol[relocation->symbol];
    uint64_t words[3] = {relocation->offset, row << 32 | relocation->type,
                         (uint64_t)relocation->addend};

    memcpy(list->own + *at, words, list->entry_size);
    *at += list->entry_size;
    if (row == 0)
        MERGING_ERROR(m,
                      "Relocation type %#x in '%.*s' is against '%.*s', which is not in the output",
                      relocation->type, TEXT_ARG(list->name),
                      TEXT_ARG(is_section ? m->sections[relocation->section].name
                                          : m->symbols[relocation->symbol].name));
}

static void make_room(struct merging *m, enum section_class class)
{
    for (uint32_t i = m->classes.first[class]; i < m->classes.first[class + 1]; i++) {
        struct merged_section *section = &m->sections[m->classes.items[i]];

        section->own = arena_alloc(&m->image->arena, section->size, 1);
        section->data = section->own;
    }
}

bool relocations_write(struct merging *m)
{
    uint64_t *written = arena_zalloc(&m->arena, m->section_count, sizeof *written);

    make_room(m, CLASS_RELOCATIONS);
    make_room(m, CLASS_TWIN_RELOCATIONS);
    for (size_t i = m->relocations.count; i-- > 0;) {
        const struct merged_relocation *relocation = &m->relocations.items[i];

        if (m->sections[relocation->list].index)
            encode_one(m, relocation, &written[relocation->list]);
    }
    return !m->failed;
}
