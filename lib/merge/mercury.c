/* mercury.c: Mercury's twins of sections and symbols, from sm_100 on.
 *
 * A cubin for sm_100 and later holds its code twice: as instructions of the target in .text.F, and
 * in .nv.capmerc.text.F in an intermediate form, from which finalizers make code for other targets.
 * With the latter go twins of all that speaks of offsets in code: .nv.merc.debug_*,
 * .nv.merc.nv.info (.F), .nv.merc.rela.X, of the data that holds addresses
 * (.nv.merc.nv.global.init, .nv.merc.nv.constant.user for bank 3, .nv.merc.nv.constant.optimizer.F
 * for bank 2), and the symbol table .nv.merc.symtab. Measured on ptxas and nvlink 13.0: symbol i of
 * that table is symbol i of .symtab, with the twin in place of its section, the size that a
 * function has in the intermediate form, the data's type and memory space also after the link, and
 * value 0 for reserved symbols; only the section symbols of constant bank 0, which end .symtab, are
 * not there. The first word of the twin of code is the number of the code section. The rest of it
 * is never looked into, but for fields that relocations name (mercury_code.h). */
#include "merge/mercury.h"

#include "cubin/mercury.h"
#include "diag/diag.h"
#include "merge/layout.h"
#include "merge/mercury_constants.h"
#include "merge/merging_inputs.h"
#include "merge/twins.h"

void mercury_leave_out(struct merging *m, size_t file, const char *why)
{
    if (m->has_twins)
        diag_caution("Mercury sections of '%s' and other inputs are not carried over (%s); the "
                     "output runs on its own target only",
                     m->cubins[file]->name, why);
    m->has_twins = false;
}

Elf64_Sym mercury_symbol(const struct merging *m, size_t file, uint32_t index)
{
    return cubin_twin_symbol(m->cubins[file], &m->twins->tables[file], index);
}

uint32_t mercury_symbol_section(const struct merging *m, size_t file, uint32_t index)
{
    return cubin_twin_section(m->cubins[file], &m->twins->tables[file], index);
}

enum merged_class mercury_class(const struct merging *m, const struct cubin_section *section)
{
    if (!m->has_twins)
        return CLASS_COUNT;
    switch (section->type) {
    case SHT_CUDA_CAPMERC:
        return CLASS_TWIN_TEXT;
    case SHT_PROGBITS:
        return CLASS_TWIN_DEBUG;
    case SHT_CUDA_MERC_CONSTANT_USER:
        return CLASS_TWIN_CONSTANT;
    case SHT_CUDA_MERC_CONSTANT_OPTIMIZER:
        return CLASS_TWIN_FUNCTION_CONSTANT;
    case SHT_CUDA_GLOBAL_INIT:
        return CLASS_TWIN_GLOBAL_INIT;
    case SHT_CUDA_RESERVED_SHARED:
        return CLASS_TWIN_RESERVED;
    default:
        return CLASS_COUNT;
    }
}

/* Finds the symbol tables; false when no input has any twin. */
static bool find_tables(struct merging *m, struct twins *twins)
{
    struct cubin_twins *tables = arena_zalloc(&m->arena, m->count, sizeof *tables);
    bool found = false;

    for (size_t file = 0; file < m->count; file++)
        found |= cubin_twins_find(m->cubins[file], &tables[file]);
    twins->tables = tables;
    return found;
}

/* The function of the twin of code; MERGE_NONE: there is none of that number. */
static uint32_t code_owner(const struct merging *m, size_t file, const struct cubin_section *code)
{
    const struct cubin *cubin = m->cubins[file];
    uint32_t section;

    if (code->type != SHT_CUDA_CAPMERC || code->info == 0 || code->info >= cubin->symbol_count ||
        code->size < CUBIN_TWIN_CODE_HEADER)
        return MERGE_NONE;
    section = cubin->symbols[code->info].section;
    if (section >= cubin->section_count || !cubin_is_text(&cubin->sections[section]) ||
        cubin_section_function(cubin, section) != code->info)
        return MERGE_NONE;
    return merging_owner(m, file, section);
}

uint32_t mercury_owner(const struct merging *m, size_t file, const struct cubin_section *section)
{
    const struct cubin *cubin = m->cubins[file];

    if (section->type != SHT_CUDA_CAPMERC && (section->flags & SHF_INFO_LINK))
        section = &cubin->sections[section->info];
    return code_owner(m, file, section);
}

/* Finds the functions that the twins of one cubin belong to; NULL, or what is wrong. */
static const char *own_sections(const struct merging *m, uint32_t *owner_of, size_t file)
{
    const struct cubin *cubin = m->cubins[file];
    size_t texts = 0;

    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        uint32_t *owner = &owner_of[m->section_base[file] + i];

        texts += cubin_is_text(section);
        if (!cubin_is_mercury(section))
            continue;
        if (!cubin_twin_is_known(section))
            return "there is a section of unknown kind";
        texts -= section->type == SHT_CUDA_CAPMERC;
        if (section->type != SHT_CUDA_CAPMERC &&
            (!(section->flags & SHF_INFO_LINK) || section->type == SHT_CUDA_MERC_RELA))
            continue;
        *owner = mercury_owner(m, file, section);
        if (*owner == MERGE_NONE)
            return "there is a section of no function";
    }
    return texts == 0 ? NULL : "not every function has a twin";
}

void mercury_begin(struct merging *m)
{
    struct twins *twins = arena_zalloc(&m->arena, 1, sizeof *twins);
    uint32_t *owner_of;

    if (m->request->sass_only || !merging_is_mercury(m) || !find_tables(m, twins))
        return;
    owner_of = merging_none(m, m->section_base[m->count]);
    twins->owner_of = owner_of;
    m->twins = twins;
    m->has_twins = true;
    for (size_t file = 0; m->has_twins && file < m->count; file++) {
        const char *wrong = cubin_twins_are_parallel(m->cubins[file], &twins->tables[file])
                                ? own_sections(m, owner_of, file)
                                : "it has no matching symbols for them";

        if (wrong)
            mercury_leave_out(m, file, wrong);
    }
}

void mercury_pair(struct merging *m)
{
    struct twin_pairs *pairs = arena_alloc(&m->arena, 1, sizeof *pairs);
    uint32_t *twin_of;

    if (!m->has_twins)
        return;
    twin_of = merging_none(m, m->section_count);
    *pairs = (struct twin_pairs){.twin_of = twin_of, .count = m->section_count};
    for (size_t file = 0; file < m->count; file++) {
        const struct cubin *cubin = m->cubins[file];
        const struct merged_place *places = &m->layout->places[m->section_base[file]];

        for (uint32_t i = 1; i < cubin->symbol_count; i++) {
            uint32_t section = cubin->symbols[i].section;
            uint32_t twin = mercury_symbol_section(m, file, i);

            if (section >= cubin->section_count || twin >= cubin->section_count ||
                !cubin_is_mercury(&cubin->sections[twin]) ||
                cubin_is_mercury(&cubin->sections[section]))
                continue;
            if (places[section].section == MERGE_NONE || places[twin].section == MERGE_NONE)
                continue;
            twin_of[places[section].section] = places[twin].section;
            m->sections[places[twin].section].target = places[section].section;
        }
    }
    pairs->copies = mercury_constants(m, twin_of, pairs->count);
    m->twin_pairs = pairs;
}
