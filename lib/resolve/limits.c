/* limits.c: checks across cubins. Rules and messages as measured on nvlink. */
#include "resolve/internal.h"

#include "cubin/contents.h"
#include "diag/symbol_names.h"

/* Nothing is compared after a strong definition. */
#define STRONG_BEFORE UINT64_MAX

static bool check_parameters(struct merging *m)
{
    /* By function: that of the first weak copy, once there is one. */
    uint64_t *sizes = arena_zalloc(&m->arena, m->symbol_count, sizeof *sizes);

    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_CONSTANT);) {
        const struct cubin *cubin = m->cubins[at.file];
        uint32_t owner = merging_owner(m, at.file, at.index);

        if (owner == MERGE_NONE || at.section->type != SHT_CUDA_CONSTANT0 ||
            sizes[owner] == STRONG_BEFORE)
            continue;
        if (cubin->symbols[cubin_section_function(cubin, at.index)].binding != STB_WEAK)
            sizes[owner] = STRONG_BEFORE;
        else if (sizes[owner] == 0)
            sizes[owner] = at.section->size;
        else if (sizes[owner] != at.section->size)
            MERGING_ERROR(m, "Duplicate weak parameter bank for '%.*s' is not the same size",
                          TEXT_ARG(m->symbols[owner].name));
    }
    return !m->failed;
}

/* nvlink 13.3 and later. */
static bool check_patches(struct merging *m)
{
    bool *has_record = arena_zalloc(&m->arena, m->symbol_count, sizeof *has_record);

    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_INFO);) {
        uint32_t function = cubin_section_function(m->cubins[at.file], at.index);
        struct bytes rest = at.section->data;
        struct info_record record;

        if (function && merging_defines(m, at.file, function))
            while (info_next(&rest, &record))
                if (record.attribute == EIATTR_TOOLS_PATCH_FUNC)
                    has_record[merging_symbol(m, at.file, function)] = true;
    }
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *function = &m->symbols[i];

        if (function->type != STT_FUNC || function->file == MERGE_NONE || has_record[i])
            continue;
        diag_fatal("Function '%.*s' in '%s' is missing EIATTR_TOOLS_PATCH_FUNC attribute required "
                   "by -astoolspatch option",
                   TEXT_ARG(function->name), m->cubins[function->file]->name);
        return false;
    }
    return true;
}

/* Words of AT_ENTRY_FRAGMENTS for tensor memory: of one CTA and of a pair, as CUDA 12.9 and as
 * later ones write them. */
enum { FRAGMENT_TMEM_CTA1 = 4, FRAGMENT_TMEM_CTA2, FRAGMENT_TMEM_CTA1_V2, FRAGMENT_TMEM_CTA2_V2 };

/* Which forms the records have: bit 0 CUDA 12.9's, bit 1 later ones'. */
static unsigned tensor_forms(struct bytes rest)
{
    struct info_record record;
    unsigned forms = 0;

    while (info_next(&rest, &record))
        for (size_t i = 0;
             record.attribute == EIATTR_AT_ENTRY_FRAGMENTS && i < record.payload.size / 4; i++) {
            uint32_t word = info_word(record.payload, i);

            if (word >= FRAGMENT_TMEM_CTA1 && word <= FRAGMENT_TMEM_CTA2_V2)
                forms |= word >= FRAGMENT_TMEM_CTA1_V2 ? 2u : 1u;
        }
    return forms;
}

static bool check_tensor_forms(struct merging *m)
{
    unsigned forms = 0;

    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_INFO);) {
        forms |= tensor_forms(at.section->data);
        if (forms != 3)
            continue;
        MERGING_ERROR(m,
                      "Object '%s' cannot be linked due to version mismatch. Objects using tcgen05 "
                      "in 12.x cannot be linked with 13.0 or later, they must be rebuilt with "
                      "latest compiler",
                      m->cubins[at.file]->name);
        break;
    }
    return !m->failed;
}

/* Measured: a kernel may use both itself, but not one if a function it reaches uses the other. */
static void check_cta_groups(struct merging *m)
{
    const uint32_t both = REACHES_CTA | REACHES_CTAS;

    for (uint32_t i = 0; i < m->symbol_count; i++) {
        uint32_t own = m->functions[i].flags & both;

        if (merged_is_kernel(&m->symbols[i]) && m->is_live[i] && own && own != both &&
            (m->reach[i].flags & both) == both)
            MERGING_ERROR(m,
                          "Function '%.*s' uses single CTA(.cta_group::1) and CTA pair "
                          "granularity(.cta_group::2) and that is not allowed.",
                          TEXT_ARG(m->symbols[i].name));
    }
}

static int compare_callees(const void *a, const void *b, void *symbols)
{
    const struct merged_symbol *x = (const struct merged_symbol *)symbols + *(const uint32_t *)a;
    const struct merged_symbol *y = (const struct merged_symbol *)symbols + *(const uint32_t *)b;

    return COMPARE(x->file, y->file) ?: COMPARE(x->input, y->input);
}

/* The command line of the tool that made a cubin, from its note; empty without one. */
static struct text tool_command(const struct cubin *cubin)
{
    struct bytes rest = cubin->sections[cubin_find_kind(cubin, KIND_TOOLS)].data;
    struct tool_note note = {0};

    tool_note_next(&rest, &note);
    while (note.command.size > 0 && note.command.data[note.command.size - 1] == ' ')
        note.command.size--;
    return note.command;
}

/* Notes where the register limit of `kernel` and the registers of a `callee` of it come from. */
static void explain_registers(struct merging *m, uint32_t kernel, uint32_t callee)
{
    const struct merged_symbol *caller = &m->symbols[kernel], *called = &m->symbols[callee];
    const struct text names[] = {caller->name, called->name};
    const char **shown;
    unsigned limit = m->functions[kernel].most_registers;

    if (diag_room() == 0)
        return;
    shown = symbol_names_shown(names, 2, &m->arena);
    diag_note("%s of '%s', assembled with '%.*s', has its limit from there or from "
              "__launch_bounds__",
              shown[0], m->cubins[caller->file]->name,
              TEXT_ARG(tool_command(m->cubins[caller->file])));
    diag_note(
        "%s of '%s', assembled with '%.*s', must be compiled with -maxrregcount=%u or less, or "
        "the kernel with a higher limit; from PTX (-lto, -split-compile-extended) "
        "-Xptxas=-func-maxrregcount=%u makes it fit",
        shown[1], m->cubins[called->file]->name, TEXT_ARG(tool_command(m->cubins[called->file])),
        limit, limit);
}

/* Reports, in the order of their definitions, the functions that a kernel reaches and that need
 * more registers than allowed and than all functions reported before. */
static void report_registers(struct merging *m, uint32_t kernel)
{
    const uint32_t *found;
    size_t count = reach_walk(m, kernel, REACHES_ANYTHING, &found);
    uint32_t *callees = arena_alloc(&m->arena, count, sizeof *callees);
    uint32_t most = m->functions[kernel].most_registers;
    size_t callee_count = 0;

    for (size_t i = 0; i < count; i++)
        if (found[i] != kernel)
            callees[callee_count++] = found[i];
    qsort_r(callees, callee_count, sizeof *callees, compare_callees, m->symbols);
    for (size_t i = 0; i < callee_count; i++) {
        const struct merged_function *function = &m->functions[callees[i]];

        if (function->registers <= most)
            continue;
        most = function->registers;
        diag_refusal("entry function '%.*s' with max regcount of %u calls function '%.*s' with "
                     "regcount of %u",
                     TEXT_ARG(m->symbols[kernel].name), m->functions[kernel].most_registers,
                     TEXT_ARG(m->symbols[callees[i]].name), function->registers);
        explain_registers(m, kernel, callees[i]);
        m->failed = true;
    }
}

/* A kernel gets as many registers as its callees need, so these must be known (nvlink: "Internal
 * error: no regcount?"). */
static void check_known(struct merging *m, uint32_t symbol)
{
    const struct merged_symbol *function = &m->symbols[symbol];

    if (!m->is_live[symbol] || merged_is_kernel(function) || function->file == MERGE_NONE ||
        function->alias != MERGE_NONE || m->functions[symbol].registers > 0)
        return;
    MERGING_ERROR(m, "'%s' does not say how many registers '%.*s' needs",
                  m->cubins[function->file]->name, TEXT_ARG(function->name));
}

static bool check_registers(struct merging *m)
{
    for (uint32_t i = 0; i < m->symbol_count; i++)
        check_known(m, i);
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        uint32_t most = m->functions[i].most_registers;

        if (!merged_is_kernel(&m->symbols[i]) || !m->is_live[i] || most == 0 ||
            m->reach[i].registers <= most || m->reach[i].registers == m->functions[i].registers)
            continue;
        report_registers(m, i);
    }
    return !m->failed;
}

bool limits_check_inputs(struct merging *m)
{
    return check_tensor_forms(m) && (!m->request->tools_patch || check_patches(m)) &&
           check_parameters(m);
}

bool limits_check_needs(struct merging *m)
{
    check_cta_groups(m);
    return check_registers(m);
}
