/* constants.c: bank 2 is loaded for each kernel, so a device function's constants must be in the
 * section of every kernel that reaches it.
 *
 * The function's code can only use one offset. Measured on nvlink: a kernel's own constants come
 * first. The functions follow, the one read last first, each at the largest end that the sections
 * of its kernels have so far; its section and theirs get the largest of their alignments, to which
 * ends are aligned. A function that no kernel reaches loses its constants. Constants of copies that
 * lost (overridden.c) follow the function's own; if the kept copy has none, they remain in a
 * section of the function.
 *
 * nvlink -r (13.0 and 13.5, sm_75 to sm_120) leaves out the relocations by which functions refer
 * to their constants; so their code reads from the beginning of the bank, whatever is there. */
#include "merge/internal.h"

#include "diag/symbol_names.h"

struct planner {
    struct merging *m;
    uint32_t *bank_of;              /* by symbol: its merged section of the bank, or MERGE_NONE */
    struct merged_lists kernels_of; /* by section that moves: the kernels that reach its function */
    bool *refers;                   /* by symbol: its code refers to its constants */
};

/* Whether a section has a device function's constants, which must move. */
static bool moves(const struct merging *m, uint32_t section)
{
    uint32_t function = m->out->sections[section].function;

    return merged_is_bank(&m->out->sections[section], CONSTANTS_BANK) &&
           !merged_is_kernel(&m->symbols[function]) &&
           (m->functions[function].flags & REACHES_CONSTANTS);
}

/* Finds which kernels reach which constants, and gives those without a section one like `model`. */
static void find_users(struct planner *planner, uint32_t model)
{
    struct merging *m = planner->m;
    struct merged_pairs users = {.arena = &m->arena};

    for (uint32_t k = 0; k < m->out->kernel_count; k++) {
        uint32_t kernel = m->out->kernels[k];
        const uint32_t *found;
        size_t count = reach_walk(m, kernel, REACHES_CONSTANTS, &found);

        for (size_t i = 0; i < count; i++) {
            uint32_t section = planner->bank_of[found[i]];

            if (section == MERGE_NONE || !moves(m, section))
                continue;
            index_lists_add(&users, section, kernel);
            if (planner->bank_of[kernel] != MERGE_NONE)
                continue;
            planner->bank_of[kernel] = layout_make_like(m, model, kernel);
            m->out->sections[planner->bank_of[kernel]].alignment = 1;
        }
    }
    planner->kernels_of = index_lists_make(&m->arena, &users, m->out->section_count);
}

static void find_referring(struct planner *planner)
{
    struct merging *m = planner->m;

    planner->refers = arena_zalloc(&m->arena, m->symbol_count, sizeof *planner->refers);
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_RELOCATIONS);) {
        const struct cubin *cubin = m->cubins[at.file];
        uint32_t owner = merging_owner(m, at.file, at.section->info);

        if (owner == MERGE_NONE || !(m->functions[owner].flags & REACHES_CONSTANTS))
            continue;
        for (size_t i = 0; i < at.section->relocation_count; i++) {
            uint32_t section = cubin->symbols[at.section->relocations[i].symbol].section;

            planner->refers[owner] |=
                section < cubin->section_count &&
                cubin->sections[section].type == SHT_CUDA_CONSTANT0 + CONSTANTS_BANK;
        }
    }
}

/* Sets the constants' offset, the same for all their kernels, and extends the kernels' sections. */
static void place_constants(struct planner *planner, uint32_t from)
{
    struct merging *m = planner->m;
    struct merged_section *placed = &m->out->sections[from];
    const struct merged_lists *users = &planner->kernels_of;
    uint64_t offset = 0;

    for (uint32_t i = users->first[from]; i < users->first[from + 1]; i++) {
        const struct merged_section *section = &m->out->sections[planner->bank_of[users->items[i]]];

        RAISE(offset, section->size);
        RAISE(placed->alignment, section->alignment);
    }
    offset = image_align_up(offset, placed->alignment);
    if (offset > 0 && !planner->refers[placed->function])
        MERGING_ERROR(
            m,
            "The code of %s in '%s' reads its constants at the beginning of bank 2, where "
            "others are, and has no relocation for that, as nvlink -r leaves it out; link "
            "what it was made of in one step, or by minilink -r",
            symbol_names_quoted(m->symbols[placed->function].name, &m->image->arena),
            m->cubins[m->symbols[placed->function].file]->name);
    placed->copies = users->first[from];
    for (uint32_t i = users->first[from]; i < users->first[from + 1]; i++) {
        uint32_t to = planner->bank_of[users->items[i]];
        struct merged_section *section = &m->out->sections[to];

        section->alignment = placed->alignment;
        section->size = image_align_up(offset + placed->size, section->alignment);
        m->out->constants[i] = (struct merged_copy){from, to, offset};
    }
    placed->class = CLASS_COUNT; /* only its contents are still needed */
}

/* Places the functions' constants, the one read last first. Measured: where a definition replaced a
 * weak one, the section of the weak one counts, which was read before. */
static void place_all_constants(struct planner *planner)
{
    struct merging *m = planner->m;
    uint32_t *sections = arena_alloc(&m->arena, m->symbol_count, sizeof *sections);
    bool *is_known = arena_zalloc(&m->arena, m->symbol_count, sizeof *is_known);
    size_t count = 0;

    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_CONSTANT);) {
        uint32_t owner = merging_owner(m, at.file, at.index);

        if (owner == MERGE_NONE || at.section->type != SHT_CUDA_CONSTANT0 + CONSTANTS_BANK ||
            is_known[owner])
            continue;
        is_known[owner] = true;
        sections[count++] = planner->bank_of[owner];
    }
    while (count-- > 0)
        if (sections[count] != MERGE_NONE && moves(m, sections[count]))
            place_constants(planner, sections[count]);
}

static void check_sizes(const struct planner *planner)
{
    struct merging *m = planner->m;

    for (size_t k = 0; k < m->out->kernel_count; k++) {
        uint32_t kernel = m->out->kernels[k];
        uint32_t section = planner->bank_of[kernel];

        if (section == MERGE_NONE || m->out->sections[section].size <= CONSTANT_BANK_BYTES)
            continue;
        MERGING_REFUSAL(
            m,
            "Entry function '%.*s' uses too much data for compiler-generated constants; "
            "please recompile with -Xptxas --disable-optimizer-constants",
            TEXT_ARG(m->symbols[kernel].name));
    }
}

static void move_symbols(struct merging *m)
{
    for (size_t i = 0; i < m->symbol_count; i++) {
        struct placed_symbol *symbol = &m->out->placed[i];
        size_t copy;

        if (symbol->section == MERGE_NONE || m->out->sections[symbol->section].class != CLASS_COUNT)
            continue;
        copy = m->out->sections[symbol->section].copies;
        if (copy < m->out->constant_count && m->out->constants[copy].from == symbol->section)
            symbol->value += m->out->constants[copy].offset;
    }
}

bool constants_layout(struct merging *m)
{
    struct planner planner = {.m = m};
    uint32_t first = 0;

    while (first < m->out->section_count && !moves(m, first))
        first++;
    if (m->request->relocatable || first == m->out->section_count)
        return true;
    planner.bank_of = layout_find_banks(m, CONSTANTS_BANK);
    find_users(&planner, first);
    m->out->constant_count = planner.kernels_of.first[m->out->section_count];
    m->out->constants = arena_alloc(&m->arena, m->out->constant_count, sizeof *m->out->constants);
    find_referring(&planner);
    place_all_constants(&planner);
    move_symbols(m);
    check_sizes(&planner);
    return !m->failed;
}

void constants_fill(struct merging *m)
{
    for (size_t i = 0; i < m->out->constant_count; i++) {
        const struct merged_copy *copy = &m->out->constants[i];
        const struct merged_section *from = &m->out->sections[copy->from];

        if (from->size > 0)
            memcpy(layout_writable(m, copy->to) + copy->offset, from->data, from->size);
    }
}
