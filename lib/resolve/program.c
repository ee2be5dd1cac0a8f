/* program.c: which symbols and functions the cubins have together, which of them are kept, and what
 * these need, step by step. */
#include "resolve/resolve.h"

#include "cubin/contents.h"
#include "diag/diag.h"
#include "input/used.h"

/* The rest of the flags must agree. */
static bool is_for_target(const struct merging *m, const struct cubin *cubin)
{
    uint32_t other = CUBIN_FLAGS_MERGEABLE & ~CUBIN_FLAGS_SM_MASK;

    return runs_on_sass(m->request->arch, (struct arch){CUBIN_FLAGS_SM(cubin->flags), 0},
                        m->request->toolkit) &&
           ((cubin->flags ^ m->cubins[0]->flags) & other) == 0;
}

static uint8_t input_kind_of(const struct cubin_section *section)
{
    if (section->relocation_count > 0 && section->type != SHT_CUDA_MERC_RELA)
        return INPUT_RELOCATIONS;
    switch (section->type) {
    case SHT_CUDA_INFO:
        return INPUT_INFO;
    case SHT_CUDA_MERC_INFO:
        return INPUT_TWIN_INFO;
    case SHT_CUDA_SHARED:
        return INPUT_SHARED;
    case SHT_NOTE:
        return INPUT_NOTE;
    case SHT_CUDA_CALLGRAPH:
    case SHT_CUDA_PROTOTYPE:
        return INPUT_GRAPH;
    case SHT_CUDA_UFT_ENTRY:
    case SHT_CUDA_UDT_ENTRY:
        return INPUT_UNIFIED;
    default:
        return format_is_constant(section->type) ? INPUT_CONSTANT : INPUT_OTHER;
    }
}

/* Numbers all symbols and sections, and finds their kinds in one walk, so that steps that need few
 * sections do not have to read all headers again. */
static void index_inputs(struct merging *m)
{
    uint8_t *kind;

    m->target = targets_find(CUBIN_FLAGS_SM(m->cubins[0]->flags));
    m->symbol_base = arena_zalloc(&m->arena, m->count + 1, sizeof *m->symbol_base);
    m->section_base = arena_zalloc(&m->arena, m->count + 1, sizeof *m->section_base);
    for (size_t file = 0; file < m->count; file++) {
        m->symbol_base[file + 1] = m->symbol_base[file] + m->cubins[file]->symbol_count;
        m->section_base[file + 1] = m->section_base[file] + m->cubins[file]->section_count;
    }
    kind = m->kinds = arena_alloc(&m->arena, m->section_base[m->count], sizeof *m->kinds);
    for (size_t file = 0; file < m->count; file++)
        for (size_t i = 0; i < m->cubins[file]->section_count; i++)
            *kind++ = input_kind_of(&m->cubins[file]->sections[i]);
}

/* For an executable, checks that no cubin has unified symbols. */
static bool check_unified(const struct merging *m)
{
    struct merging_walk at = {0};

    if (m->request->relocatable || !merging_next_of(m, &at, INPUT_UNIFIED))
        return true;
    if (m->request->has_index)
        return diag_fatal("Unified symbols found in '%s': minilink cannot read index files",
                          m->cubins[at.file]->name);
    return diag_fatal("Unified symbols found but index file not specified.");
}

/* Checks that all inputs are relocatable, for the target, and of one kind. */
static bool check_cubins(struct merging *m)
{
    char arch[ARCH_NAME_SIZE];

    index_inputs(m);
    for (size_t file = 0; file < m->count; file++) {
        const struct cubin *cubin = m->cubins[file];

        if (cubin->type != ET_REL) {
            MERGING_ERROR(m, "Input file '%s' is not a relocatable cubin", cubin->name);
        } else if (!is_for_target(m, cubin)) {
            diag_fatal("Input file '%s' arch does not match target '%s'", cubin->name,
                       arch_name(m->request->arch, arch));
            m->failed = true;
        } else if (runs_on_finalized(m->request->arch,
                                     (struct arch){CUBIN_FLAGS_SM(cubin->flags), 0},
                                     m->request->toolkit)) {
            MERGING_ERROR(
                m,
                "Input file '%s' is code for sm_%u, of which only NVIDIA's finalizer makes "
                "code for '%s': compile it for that target",
                cubin->name, CUBIN_FLAGS_SM(cubin->flags), arch_name(m->request->arch, arch));
        }
    }
    if (m->symbol_base[m->count] >= MERGE_NONE / 2 || m->section_base[m->count] >= MERGE_NONE / 2)
        MERGING_ERROR(m, "Too many symbols or sections to merge");
    if (m->failed)
        return false;
    if (m->request->preserve_relocations && targets_have(m->request->arch.sm, TARGET_HAS_FORM_90))
        diag_warning("Option '--preserve-relocs' is not fully implemented for gpu archtecture '%s' "
                     "and may not work as expected",
                     arch_name(m->request->arch, arch));
    return check_unified(m) && unknown_check(m->cubins, m->count, m->request->sass_only);
}

/* Liveness has two degrees. Functions that kernels reach by calls are live, with all that they call
 * in turn. A function whose address is taken but that no call reaches is kept, but its callees are
 * not, except those that the driver provides. Kernels need no caller. */
struct marking {
    struct merging *m;
    bool *is_reached; /* by symbol */
    bool *is_called;  /* by prototype: its functions are reached */
    uint32_t *stack;
    size_t depth;
};

static void keep_alone(struct marking *marking, uint32_t symbol)
{
    struct merging *m = marking->m;

    if (m->symbols[symbol].type != STT_FUNC)
        return;
    m->is_live[symbol] = true;
    if (m->symbols[symbol].alias != MERGE_NONE)
        m->is_live[m->symbols[symbol].alias] = true;
    for (uint32_t i = m->graph.calls.first[symbol]; i < m->graph.calls.first[symbol + 1]; i++)
        if (m->symbols[m->graph.calls.items[i]].file == MERGE_NONE)
            m->is_live[m->graph.calls.items[i]] = true;
}

static void keep_with_callees(struct marking *marking, uint32_t symbol)
{
    if (marking->m->symbols[symbol].type != STT_FUNC || marking->is_reached[symbol])
        return;
    keep_alone(marking, symbol);
    marking->is_reached[symbol] = true;
    marking->stack[marking->depth++] = symbol;
}

static void keep_list(struct marking *marking, const struct merged_lists *lists, uint32_t item)
{
    for (uint32_t i = lists->first[item]; i < lists->first[item + 1]; i++)
        keep_with_callees(marking, lists->items[i]);
}

/* Measured: a function whose address is taken anywhere is kept, even if only dead code takes it. A
 * kernel may be launched by its address, and is kept with all that it calls. */
static void mark_address(struct marking *marking, uint32_t symbol)
{
    if (merged_is_kernel(&marking->m->symbols[symbol]))
        keep_with_callees(marking, symbol);
    else
        keep_alone(marking, symbol);
}

static bool is_used(const struct used_names *used, const struct merged_symbol *function)
{
    return merged_is_kernel(function) ? !used || used_has_kernel(used, function->name)
                                      : used && used_wants(used, function->name);
}

static void mark_root(struct marking *marking, uint32_t symbol)
{
    const struct merging *m = marking->m;
    const struct merged_symbol *function = &m->symbols[symbol];

    if (m->request->relocatable || (merging_keeps_all(m) && function->file != MERGE_NONE) ||
        (m->request->keep_exported && function->binding == STB_GLOBAL &&
         function->file != MERGE_NONE) ||
        (function->file != MERGE_NONE && is_used(m->request->used, function)))
        keep_with_callees(marking, symbol);
    else if (index_lists_count(&m->graph.taken, symbol) > 0)
        mark_address(marking, symbol);
}

/* Marks functions whose address is in data that is never removed. */
static void mark_data(struct marking *marking)
{
    const struct merging *m = marking->m;

    for (size_t file = 0; file < m->count; file++)
        for (uint32_t i = 1; i < m->cubins[file]->symbol_count; i++) {
            uint32_t symbol = merging_symbol(m, file, i);

            if (symbol != MERGE_NONE && overridden_points_at(m, file, i))
                mark_address(marking, symbol);
        }
}

/* Marks the functions that a reached function may call. */
static void follow(struct marking *marking, uint32_t symbol)
{
    const struct merging *m = marking->m;

    keep_list(marking, &m->graph.calls, symbol);
    if (m->symbols[symbol].alias != MERGE_NONE)
        keep_with_callees(marking, m->symbols[symbol].alias);
    for (uint32_t i = m->graph.called.first[symbol]; i < m->graph.called.first[symbol + 1]; i++) {
        uint32_t prototype = m->graph.called.items[i];

        if (!marking->is_called[prototype])
            keep_list(marking, &m->graph.candidates, prototype);
        marking->is_called[prototype] = true;
    }
}

/* Fills m->is_live with the functions that are kept: kernels, functions whose address is taken or
 * is in data, and all that they need; under -g and -r, every function. */
static void mark_live(struct merging *m)
{
    struct marking marking = {
        .m = m,
        .is_reached = arena_zalloc(&m->arena, m->symbol_count, sizeof(bool)),
        .is_called = arena_zalloc(&m->arena, m->graph.prototype_count, sizeof(bool)),
        .stack = arena_alloc(&m->arena, m->symbol_count, sizeof(uint32_t)),
    };

    m->is_live = arena_zalloc(&m->arena, m->symbol_count, sizeof(bool));
    for (uint32_t symbol = 0; symbol < m->symbol_count; symbol++)
        mark_root(&marking, symbol);
    mark_data(&marking);
    while (marking.depth > 0)
        follow(&marking, marking.stack[--marking.depth]);
}

/* Finds which functions are kept, and what these need. */
static bool find_live(struct merging *m)
{
    mark_live(m);
    if (!m->request->relocatable && !diagnostics_undefined(m))
        return false;
    records_gather(m);
    reach_summarize(m);
    return m->request->relocatable || limits_check_needs(m);
}

/* Chooses the format of the output. */
static bool choose_abi(struct merging *m)
{
    bool is_old = true;

    for (size_t file = 0; file < m->count; file++) {
        is_old = is_old && m->cubins[file]->toolkit != 0;
        RAISE(m->toolkit, m->cubins[file]->toolkit);
    }
    if (m->request->abi != MERGE_ABI_AUTO)
        is_old = m->request->abi == MERGE_ABI_7;
    m->abi = is_old ? CUBIN_OLD_ABI_VERSION : CUBIN_ABI_VERSION;
    if (m->toolkit == 0)
        m->toolkit = toolkits_last(TOOLKIT_WRITES_ABI_7);
    if (is_old && merging_is_mercury(m))
        return diag_error(
            "--output-abi=7 is for targets up to sm_90: no toolkit of that time knows '%s'",
            arch_name(m->request->arch, (char[ARCH_NAME_SIZE]){0}));
    return true;
}

bool program_resolve(struct merging *m)
{
    if (!check_cubins(m) || !choose_abi(m))
        return false;
    if (!resolve_symbols(m) || !limits_check_inputs(m) || !graph_read(m)) {
        if (diag_state_get()->verbose)
            diag_fatal("merge_elf failed"); /* nvlink's last message after such errors */
        return false;
    }
    if (!find_live(m))
        return false;
    m->cubins = frames_prune(m);
    return true;
}
