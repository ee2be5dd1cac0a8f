/* program.c: makes one program of the cubins, step by step: checks that they belong together,
 * resolves their symbols, and finds what is kept and what that needs. */
#include "resolve/internal.h"

#include "cubin/contents.h"
#include "diag/diag.h"

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

/* Finds which functions are kept, and what these need. */
static bool find_live(struct merging *m)
{
    reach_mark_live(m);
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

    m->toolkit = merging_does(m, TOOLKIT_WRITES_ABI_7) ? m->request->toolkit->version : 0;
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

bool resolve_program(struct merging *m)
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
    frames_prune(m);
    return true;
}
