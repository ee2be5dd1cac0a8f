/* merge.c: relocatable cubins to one image, stage by stage.
 *
 * The stages share struct merging; each reports all that it finds wrong before it fails. Rules as
 * measured on nvlink 13.0, where each stage's file states its own. */
#include "merge/merge.h"

#include <stdlib.h>

#include "base/context.h"
#include "diag/diag.h"
#include "diag/diag_state.h"
#include "merge/constants.h"
#include "merge/fold.h"
#include "merge/graph.h"
#include "merge/layout.h"
#include "merge/mercury.h"
#include "merge/merge_steps.h"
#include "merge/merging_inputs.h"
#include "merge/ordering.h"
#include "merge/preserve.h"
#include "merge/reach.h"
#include "merge/resolve.h"
#include "merge/shared.h"
#include "merge/symtab.h"
#include "merge/texture.h"
#include "merge/unified.h"

/* nvlink's last words when definitions contradict each other, which has been said. */
static bool give_up(void)
{
    if (diag_state_get()->verbose)
        diag_fatal("merge_elf failed");
    return false;
}

/* The rest of the flags must agree. */
static bool is_for_target(const struct merging *m, const struct cubin *cubin)
{
    uint32_t other = CUBIN_FLAGS_MERGEABLE & ~CUBIN_FLAGS_SM_MASK;

    return merge_takes_code(CUBIN_FLAGS_SM(cubin->flags), m->request->arch) &&
           ((cubin->flags ^ m->cubins[0]->flags) & other) == 0;
}

/* All inputs are relocatable, for the target, and of one kind. */
static bool check_inputs(struct merging *m)
{
    char arch[ARCH_NAME_SIZE];
    size_t symbols = 0;
    size_t sections = 0;

    for (size_t file = 0; file < m->count; file++) {
        const struct cubin *cubin = m->cubins[file];

        symbols += cubin->symbol_count;
        sections += cubin->section_count;
        if (cubin->type != ET_REL) {
            diag_error("Input file '%s' is not a relocatable cubin", cubin->name);
            m->failed = true;
        } else if (!is_for_target(m, cubin)) {
            diag_fatal("Input file '%s' arch does not match target '%s'", cubin->name,
                       arch_name(m->request->arch, arch));
            m->failed = true;
        }
    }
    if (symbols >= MERGE_NONE / 2 || sections >= MERGE_NONE / 2) {
        diag_error("Too many symbols or sections to merge");
        m->failed = true;
    }
    if (m->failed)
        return false;
    preserve_warn(m);
    merging_index(m);
    return unified_check(m);
}

static bool gather(struct merging *m)
{
    struct merged_function *functions = attributes_gather(m);

    shared_gather(m, functions);
    texture_gather(m, functions);
    constants_gather(m, functions);
    m->functions = functions;
    reach_summarize(m);
    return m->request->relocatable || limits_check_registers(m);
}

/* The call graph, without functions that are the same as others where that is wanted. */
static bool read_graph(struct merging *m)
{
    bool folds = m->request->fold && !m->request->relocatable && !merging_keeps_all(m);

    return graph_read(m) && (!folds || !fold_functions(m) || graph_read(m));
}

static bool find_live(struct merging *m)
{
    reach_mark_live(m);
    return m->request->relocatable || resolve_check_undefined(m);
}

static bool place(struct merging *m)
{
    m->cubins = frames_prune(m);
    notes_add(m);
    mercury_begin(m);
    return layout_sections(m) && reserved_layout(m) && texture_layout(m) && constants_layout(m) &&
           shared_layout(m);
}

static bool relocate(struct merging *m)
{
    layout_fill(m);
    constants_fill(m);
    mercury_pair(m);
    mercury_relocate(m);
    if (!relocate_sections(m))
        return false;
    mercury_add_lists(m);
    return true;
}

/* From here on no section is added. */
static bool order(struct merging *m)
{
    attributes_add_sections(m);
    graph_write_add_sections(m);
    if (!m->request->relocatable && !merging_is_mercury(m))
        layout_make(m, CLASS_REL_ACTION);
    mercury_write_add_sections(m);
    ordering_sections(m);
    preserve_symbols(m);
    symtab_assign(m);
    return true;
}

enum { ENCODE_NAMES, ENCODE_CONTENTS, ENCODE_COUNT };

/* Names and symbols go into tables of their own, contents into sections. */
static void encode_part(void *argument, size_t part, size_t first, size_t last)
{
    struct merging *m = argument;

    (void)part;
    for (size_t i = first; i < last; i++)
        if (i == ENCODE_NAMES)
            build_names(m);
        else if (attributes_encode(m))
            relocations_write(m);
}

/* From here on every symbol and section has its number. */
static bool encode(struct merging *m)
{
    size_t least = m->order_count < MERGING_WORTH_A_THREAD ? ENCODE_COUNT : 1;

    build_tables(m);
    graph_write_encode(m);
    mercury_write_encode(m);
    limits_warn_stack(m);
    spread_run(&m->request->spread, ENCODE_COUNT, least, encode_part, m);
    return !m->failed;
}

/* Decides on the form of the output. */
static bool choose_abi(struct merging *m)
{
    bool is_old = true;

    for (size_t file = 0; file < m->count; file++) {
        is_old = is_old && m->cubins[file]->toolkit != 0;
        if (m->cubins[file]->toolkit > m->toolkit)
            m->toolkit = m->cubins[file]->toolkit;
    }
    if (m->request->abi != MERGE_ABI_AUTO)
        is_old = m->request->abi == MERGE_ABI_7;
    m->abi = is_old ? CUBIN_OLD_ABI_VERSION : CUBIN_ABI_VERSION;
    if (m->toolkit == 0)
        m->toolkit = CUBIN_OLD_DEFAULT;
    if (is_old && merging_is_mercury(m)) {
        diag_error("--output-abi=7 is for targets up to sm_90: no toolkit of that time knows '%s'",
                   arch_name(m->request->arch, (char[ARCH_NAME_SIZE]){0}));
        return false;
    }
    return true;
}

static void free_merging(void *argument)
{
    struct merging *m = argument;

    free(m->sections);
    free(m->relocations.items);
    cubin_free(&m->notes);
    table_free(&m->section_names);
    image_strings_free(&m->strings);
    arena_free(&m->arena);
}

bool merge_cubins(struct image *image, const struct cubin *const *cubins, size_t count,
                  const struct merge_request *request, struct merge_report *report)
{
    struct merging m = {.request = request, .cubins = cubins, .count = count, .image = image};
    bool ok;

    CONTEXT_DEFER(free_merging, &m);
    image_begin(image, request->relocatable ? ET_REL : ET_EXEC, 0);
    ok = check_inputs(&m) && choose_abi(&m) &&
         ((resolve_symbols(&m) && limits_check_parameters(&m) && read_graph(&m)) || give_up()) &&
         find_live(&m);
    /* From here on it is known what stays. */
    ok = ok && gather(&m) && place(&m) && relocate(&m) && order(&m) && encode(&m);
    if (ok)
        build_image(&m);
    if (ok && report)
        report_fill(report, &m);
    return ok;
}
