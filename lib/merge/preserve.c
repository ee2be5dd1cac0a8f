/* preserve.c: a list is made when the first relocation of a section is resolved. Symbols that live
 * on for the lists alone get their places here, and from sm_100 on names like the finalizer's. */
#include "merge/preserve.h"

#include "cubin/mercury.h"
#include "diag/diag.h"
#include "merge/constants.h"
#include "merge/merging_inputs.h"
#include "merge/relocations.h"

#define FIRST_WARNED 90u /* measured */

void preserve_warn(const struct merging *m)
{
    char arch[ARCH_NAME_SIZE];

    if (m->request->preserve_relocations && m->request->arch.sm >= FIRST_WARNED)
        diag_warning("Option '--preserve-relocs' is not fully implemented for gpu archtecture '%s' "
                     "and may not work as expected",
                     arch_name(m->request->arch, arch));
}

void preserve_begin(struct merging *m)
{
    if (!m->request->preserve_relocations || m->resolved_of)
        return;
    m->resolved_of_count = m->section_count;
    m->resolved_of = merging_none(m, m->section_count);
}

static uint32_t add_list(struct merging *m, uint32_t target)
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

/* Whether a relocation of this kind is listed. */
static bool is_listed(const struct merging *m, uint32_t target,
                      const struct merged_relocation *relocation)
{
    const struct merged_symbol *symbol =
        relocation->symbol == MERGE_NONE ? NULL : &m->symbols[relocation->symbol];
    enum merged_class class = m->sections[target].class;
    bool is_shared = symbol && merged_is_data(symbol, STO_CUDA_SHARED);

    if (is_shared && symbol->file == MERGE_NONE && !m->request->debug)
        return false;
    if (symbol && m->placed[relocation->symbol].section != MERGE_NONE &&
        m->sections[m->placed[relocation->symbol].section].class == CLASS_COUNT)
        return false; /* a constant that went into the banks of kernels */
    return !merging_is_mercury(m) ||
           (is_shared && (class == CLASS_TEXT || class == CLASS_TWIN_TEXT));
}

void preserve_relocation(struct merging *m, uint32_t target,
                         const struct merged_relocation *relocation)
{
    struct merged_relocation listed = *relocation;

    if (!m->resolved_of || target >= m->resolved_of_count || !is_listed(m, target, relocation))
        return;
    if (m->resolved_of[target] == MERGE_NONE)
        m->resolved_of[target] = add_list(m, target);
    listed.list = m->resolved_of[target];
    relocations_add(m, &listed);
}

bool preserve_is_list(const struct merged_section *section)
{
    return section->type == SHT_CUDA_RESOLVED_RELA || section->type == SHT_CUDA_MERC_RESOLVED_RELA;
}

/* By function: its merged section of bank 0. */
static uint32_t *find_parameters(struct merging *m)
{
    uint32_t *bank_of = merging_none(m, m->symbol_count);

    for (uint32_t i = 0; i < m->section_count; i++)
        if (m->sections[i].class == CLASS_FUNCTION_CONSTANT && m->sections[i].bank == 0)
            bank_of[m->sections[i].function] = i;
    return bank_of;
}

/* A kernel's losing copy leaves the symbols of its parameters behind, which are the winner's then.
 */
static void keep_parameters(struct merging *m)
{
    const uint32_t *bank_of = find_parameters(m);

    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[i];
        const struct cubin *cubin = symbol->file == MERGE_NONE ? NULL : m->cubins[symbol->file];
        uint32_t owner;

        if (m->placed[i].section != MERGE_NONE || !cubin ||
            symbol->input_section >= cubin->section_count ||
            cubin->sections[symbol->input_section].type != SHT_CUDA_CONSTANT0)
            continue;
        owner = merging_owner(m, symbol->file, symbol->input_section);
        if (owner != MERGE_NONE)
            m->placed[i].section = bank_of[owner];
    }
}

/* From sm_100 on the compiler's constants have names of the finalizer's, with a number. */
static void number_constants(struct merging *m)
{
    uint32_t *counts = arena_zalloc(&m->arena, m->symbol_count, sizeof *counts);

    for (size_t i = 0; i < m->symbol_count; i++) {
        struct placed_symbol *symbol = &m->placed[i];
        const struct merged_section *section =
            symbol->section == MERGE_NONE ? NULL : &m->sections[symbol->section];

        if (!section || section->class != CLASS_FUNCTION_CONSTANT ||
            section->bank != CONSTANTS_BANK || !merged_is_data(&m->symbols[i], STO_CUDA_CONST))
            continue;
        symbol->name = text_of(arena_printf(&m->image->arena, ".nv.constant.optimizer.%.*s.%u",
                                            TEXT_ARG(m->symbols[section->function].name),
                                            ++counts[section->function]));
    }
}

void preserve_symbols(struct merging *m)
{
    if (!m->resolved_of)
        return;
    keep_parameters(m);
    if (merging_is_mercury(m))
        number_constants(m);
}
