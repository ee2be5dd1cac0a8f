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
#include "merge/layout.h"
#include "merge/mercury_constants.h"
#include "merge/merging_inputs.h"
#include "merge/twins.h"

void mercury_leave_out(struct merging *m, size_t file, const char *why)
{
    if (m->has_twins)
        cubin_twins_leave_out(m->cubins[file], why);
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

uint32_t mercury_owner(const struct merging *m, size_t file, const struct cubin_section *section)
{
    uint32_t code = cubin_twin_code(m->cubins[file], section);

    return code ? merging_owner(m, file, code) : MERGE_NONE;
}

/* Finds the functions that the twins of one cubin belong to; NULL, or what is wrong. */
static const char *own_sections(const struct merging *m, uint32_t *owner_of, size_t file)
{
    const struct cubin *cubin = m->cubins[file];
    const char *wrong = cubin_twins_check(cubin, &m->twins->tables[file]);

    for (size_t i = 1; !wrong && i < cubin->section_count; i++)
        if (cubin_twin_is_owned(&cubin->sections[i]))
            owner_of[m->section_base[file] + i] = mercury_owner(m, file, &cubin->sections[i]);
    return wrong;
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
        const char *wrong = own_sections(m, owner_of, file);

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
            uint32_t plain, twin;

            if (!cubin_twins_pair(cubin, &m->twins->tables[file], i, &plain, &twin) ||
                places[plain].section == MERGE_NONE || places[twin].section == MERGE_NONE)
                continue;
            twin_of[places[plain].section] = places[twin].section;
            m->sections[places[twin].section].target = places[plain].section;
        }
    }
    pairs->copies = mercury_constants(m, twin_of, pairs->count);
    m->twin_pairs = pairs;
}
