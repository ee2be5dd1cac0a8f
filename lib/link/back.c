/* back.c: the stages from the chunks' cubins to the files.
 *
 * Depending on the inputs, the chunks' cubins are joined into one and merged with those of members,
 * or, if the assembler made the whole program, used unchanged. */
#include "base/context.h"
#include "cubin/empty.h"
#include "cubin/format.h"
#include "diag/diag.h"
#include "facts/runs_on.h"
#include "input/modules.h"
#include "join/join.h"
#include "link/dependencies.h"
#include "link/member_cubins.h"
#include "link/overwrite_check.h"
#include "link/verbose.h"
#include "link/lazy.h"
#include "link/stages.h"
#include "link/whole_program.h"
#include "output/output.h"

/* Whether a group's only chunk is libnvJitLink's PTX, unchanged. Measured: nvlink merges its cubin
 * unchanged: frames and data in the assembler's order, and code for other targets included. */
static bool is_lto_cubin(const struct link *link, const struct group *group,
                         const struct chunks *chunks, const struct chunk_program *program)
{
    return group->has_lto && link->lto.ptx.size > 0 && !state_is_split(link) &&
           program->count == 1 && chunks->list[program->first].is_unchanged;
}

/* The error itself is reported by the reader or by the merge; -v adds its code. */
static void tell_code(const struct assembled *assembled, size_t index, enum link_code code)
{
    if (diag_state_get()->verbose)
        diag_error("%s: the cubin of chunk %zu of %zu, made by '%s', cannot be linked (code %d)",
                   assembler_code_text((int)code), index, assembled->cubins.count,
                   assembled->assembler.table.name, (int)code);
}

static bool lacks_alignment(const struct cubin_symbol *symbol)
{
    return symbol->section == SHN_UNDEF && symbol->type == STT_CUDA_OBJECT &&
           (symbol->other & STO_CUDA_SPACE) == STO_CUDA_SHARED && symbol->value == 0;
}

/* Dynamic shared arrays: ptxas up to 13.0 does not write their alignment, which the PTX has.
 * (nvlink 13.0 aligns them to 16 bytes whatever they need.) */
static void align_dynamic_arrays(struct cubin *joined, const struct chunk_symbol *symbols,
                                 size_t count)
{
    struct table alignments = {0};
    size_t first = 1;

    while (first < joined->symbol_count && !lacks_alignment(&joined->symbols[first]))
        first++;
    if (first >= joined->symbol_count)
        return;
    CONTEXT_DEFER(table_cleanup, &alignments);
    for (size_t i = 0; i < count; i++)
        if (symbols[i].alignment)
            table_set(&alignments, symbols[i].own_name, symbols[i].alignment);
    for (size_t i = first; i < joined->symbol_count; i++) {
        struct cubin_symbol *symbol = &joined->symbols[i];
        uint32_t alignment =
            lacks_alignment(symbol) ? table_find(&alignments, symbol->name) : TABLE_NONE;

        if (alignment != TABLE_NONE)
            symbol->value = alignment;
    }
}

static bool read_chunks(const struct link *link, const struct chunks *chunks,
                        const struct assembled *assembled, struct merged *merged)
{
    const char **names = chunk_names(chunks, &merged->arena);
    bool ok = true;

    merged->chunk_cubins =
        arena_zalloc(&merged->arena, assembled->cubins.count, sizeof *merged->chunk_cubins);
    for (size_t i = 0; i < assembled->cubins.count; i++) {
        const struct chunk_cubin *from = &assembled->cubins.list[i];

        if (!cubin_read(&merged->chunk_cubins[merged->chunk_cubin_count++], names[i],
                        (struct bytes){from->data, from->size})) {
            tell_code(assembled, i, LINK_CUBIN);
            ok = false;
        } else if (!runs_on_sass(link->members.arch,
                                 (struct arch){CUBIN_FLAGS_SM(merged->chunk_cubins[i].flags), 0},
                                 link->toolkit)) {
            tell_code(assembled, i, LINK_WRONG_TARGET);
        }
    }
    return ok;
}

/* Makes one cubin of those of a group's chunks. */
static bool join_group(const struct link *link, size_t index, const struct chunks *chunks,
                       struct merged *merged)
{
    const struct group *group = &link->groups[index];
    const struct chunk_program *program = &chunks->programs[index];
    const struct chunk_symbol *symbols = chunks->symbols + program->first_symbol;
    struct cubin *joined = &merged->joined[merged->joined_count++];
    const struct cubin **views = arena_alloc(&merged->arena, program->count, sizeof *views);
    bool ok = true;

    if (is_lto_cubin(link, group, chunks, program)) {
        *joined = merged->chunk_cubins[program->first];
        merged->chunk_cubins[program->first] = (struct cubin){0};
    } else {
        for (size_t i = 0; i < program->count; i++)
            views[i] = &merged->chunk_cubins[program->first + i];
        ok = join_cubins(joined, views, program->count, symbols, program->symbol_count,
                         !state_is_split(link) && !state_is_builtin(link));
        if (ok)
            align_dynamic_arrays(joined, symbols, program->symbol_count);
    }
    joined->name = state_cubin_name(link, group, &merged->arena);
    return ok;
}

static bool join_groups(const struct link *link, const struct chunks *chunks,
                        const struct assembled *assembled, struct merged *merged)
{
    bool ok = read_chunks(link, chunks, assembled, merged);

    for (size_t i = 0; i < chunks->program_count && ok; i++)
        ok = join_group(link, i, chunks, merged);
    return ok;
}

/* The built-in assembler's code can be linked with GPU code, to try things out, but nothing can run
 * the result. For libcudadevrt, which nvcc names and not the user, this is a caution instead of a
 * warning. */
static void warn_of_mixture(const struct link *link, const struct merged *merged)
{
    static const char text[] = "'%s' is machine code for a GPU, linked with code of the built-in "
                               "assembler: no machine runs the result";
    struct text note = TEXT(".note.minilink");
    const char *own = NULL, *system = NULL;

    if (merged->joined_count == 0 || !cubin_section_find(merged->joined, note))
        return;
    for (size_t i = 0; i < link->member_cubin_count && !own; i++) {
        const char *name = link->member_cubins[i].name;

        if (cubin_section_find(&link->member_cubins[i], note))
            continue;
        *(members_is_system(name) ? &system : &own) = name;
    }
    if (own)
        diag_warning(text, own);
    else if (system)
        diag_caution(text, system);
}

/* Takes an executable that the assembler made of the whole program as the link's result. */
static bool take_finished(const struct link *link, const struct chunks *chunks,
                          const struct assembled *assembled, struct merged *merged)
{
    const struct chunk_cubin *cubin = middle_program(assembled);

    merged->finished = cubin;
    if (!whole_program_take(cubin->data, cubin->size, chunk_names(chunks, &merged->arena)[0],
                            chunks, &merged->report))
        return false;
    observe_image(link->observation, &merged->report, &(struct observe_merged){0});
    return true;
}

static bool merge(const struct link *link, const struct cut *cut, const struct assembled *assembled,
                  struct merged *merged)
{
    const struct link_request *request = link->request;
    struct merge_request wanted = {
        .arch = link->members.arch,
        .toolkit = link->toolkit,
        .debug = link->agreement.debug,
        .callgraph = request->callgraph,
        .used = &link->used,
        .members = &link->members,
        .relocatable = request->relocatable,
        .suppress_stack_warning = request->suppress_stack_warning,
        .preserve_relocations = request->preserve_relocations,
        .tools_patch = request->tools_patch,
        .strip_debug = request->strip_debug,
        .sass_only = request->sass_only,
        .wants_places = observe_wants_places(link->observation),
        .keep_exported = state_keeps_exported(link),
        .renames = request->renames,
        .fit = request->fit_registers && assembled->cubins.count && !assembled->fit ? &merged->fit
                                                                                    : NULL,
        .fold = request->fold,
        .takes_first = request->takes_first,
        .has_extended_shared = request->has_extended_shared,
        .has_no_reserved_shared = request->has_no_reserved_shared,
        .abi = request->output_abi,
        .spread = state_spread(link),
        .has_index = request->index_file != NULL,
        .output_name = request->output,
        .version = MINILINK_VERSION,
    };
    bool is_told = diag_state_get()->verbose || wanted.wants_places ||
                   wanted.callgraph != CALLGRAPH_NONE || request->product;
    struct observe_merged observed;
    const struct cubin **cubins;
    size_t count;

    if (middle_is_finished(link, cut, assembled))
        return take_finished(link, &cut->chunks, assembled, merged);
    merged->joined = arena_zalloc(&merged->arena, link->group_count + 1, sizeof *merged->joined);
    if (!join_groups(link, &cut->chunks, assembled, merged))
        return false;
    warn_of_mixture(link, merged);
    wanted.made = merged->joined;
    wanted.made_count = merged->joined_count;
    cubins = arena_alloc(&merged->arena, link->member_cubin_count + link->group_count + 1,
                         sizeof *cubins);
    count = member_cubins_order(cubins, link, merged->joined, merged->joined_count);
    if (count == 0) {
        cubins[count++] = &merged->joined[merged->joined_count++];
        empty_cubin(merged->joined, link->members.arch, link->toolkit);
    }
    if (!merge_cubins(&merged->image, cubins, count, &wanted, is_told ? &merged->report : NULL))
        return false;
    observed = (struct observe_merged){cubins, count, wanted.made, wanted.made_count};
    observe_image(link->observation, &merged->report, &observed);
    return true;
}

/* A list and its file, which is renamed to its final name after the image. */
struct list_file {
    const char *path; /* NULL = not requested */
    struct buffer text;
    struct output output;
};

struct list_files {
    struct output result; /* the result that the lists describe */
    struct list_file modules, dependencies;
    struct arena arena;
};

static void free_lists(void *argument)
{
    struct list_files *lists = argument;

    output_abort(&lists->result);
    output_abort(&lists->modules.output);
    output_abort(&lists->dependencies.output);
    buffer_free(&lists->modules.text);
    buffer_free(&lists->dependencies.text);
    arena_free(&lists->arena);
}

static bool list_begin(struct list_file *list)
{
    return !list->path || (output_open(&list->output, list->path) &&
                           output_append(&list->output, buffer_bytes(&list->text)) &&
                           output_finish(&list->output));
}

static bool append_texts(const struct link *link, struct output *output)
{
    bool ok = true;

    for (size_t i = 0; ok && i < link->members.count; i++)
        if (link->members.list[i].role == MEMBER_PTX)
            ok = output_append(output, text_bytes(link->texts[i].text)) &&
                 output_append(output, (struct bytes){(const uint8_t *)"", 1});
    return ok;
}

static bool append_result(const struct link *link, const struct results *results,
                          struct output *output)
{
    const struct chunk_cubin *finished = results->merged.finished;
    const struct spread spread = state_spread(link);

    if (link->cached.is_found)
        return output_append(output, link->cached.output);
    if (link->request->emit_ltoir)
        return output_append(output, text_bytes(link->lto.ptx));
    if (link->request->emit_texts)
        return append_texts(link, output);
    if (link->request->emit_ptx)
        return output_append(output, text_bytes(results->cut.chunks.list[0].text));
    return finished ? output_append(output, (struct bytes){finished->data, finished->size})
                    : image_append(&results->merged.image, output, &spread);
}

static uint64_t image_bytes_of(const struct link *link, const struct merged *merged)
{
    const struct chunk_cubin *finished = merged->finished;

    if (link->cached.is_found)
        return link->cached.output.size;
    return finished ? finished->size : merged->image.file_size;
}

static bool list_modules(const struct link *link, const struct chunks *chunks, struct buffer *list)
{
    struct table compiled = {0};

    CONTEXT_DEFER(table_cleanup, &compiled);
    for (size_t i = 0; i < link->members.count; i++)
        if (link->members.list[i].role == MEMBER_LTO)
            table_set(&compiled, text_of(link->members.list[i].file), 0);
    return modules_list(list, &link->inputs, &compiled, link->is_system_unused,
                        state_lists_last_first(link, chunks));
}

static void fill_product(struct link_product *product, const struct merge_report *report)
{
    struct arena *arena = &product->arena;

    product->size = product->bytes.size;
    buffer_char(&product->bytes, '\0');
    product->kernel_count = report->kernel_count;
    product->kernels =
        arena_copy(arena, report->kernels, report->kernel_count, sizeof *product->kernels);
    for (size_t i = 0; i < product->kernel_count; i++)
        product->kernels[i].name.data = arena_string(arena, report->kernels[i].name);
}

/* Writes the link's result to its file, or hands it to the caller. */
static bool put_result(const struct link *link, const struct results *results,
                       struct output *output)
{
    struct link_product *product = link->request->product;
    bool ok = product ? output_open_memory(output, &product->bytes)
                      : output_open(output, link->request->output);

    /* A device or pipe is written directly: check for changed inputs before. */
    ok = ok && (product || output->temporary || state_check_changes(link)) &&
         append_result(link, results, output) && output_finish(output);
    if (product)
        fill_product(product, &results->merged.report);

    observe_stage(link->observation, "write",
                  (struct observe_work){.bytes = image_bytes_of(link, &results->merged)});
    return ok;
}

static bool list_dependencies(const struct link *link, const struct assembler *assembler,
                              struct list_file *list)
{
    if (dependencies_rule(link, assembler, &list->text) &&
        overwrite_check_late("--dependency-file", list->path, link->request, &link->inputs))
        return true;
    return diag_blame(LINK_USAGE);
}

/* Writes the result, if there is one, the requested lists and the reports. All are complete before
 * the first gets its final name. The reports are renamed first, then the result, then the lists. */
static bool write_files(const struct link *link, const struct results *results, bool has_result)
{
    struct list_files lists = {
        .result = {.fd = -1, .slot = -1},
        .modules = {.path = link->request->modules_file, .output = {.fd = -1, .slot = -1}},
        .dependencies = {.output = {.fd = -1, .slot = -1}},
    };
    bool is_listed, ok;

    CONTEXT_DEFER(free_lists, &lists);
    if (has_result)
        lists.dependencies.path = dependencies_path(link, &lists.arena);
    is_listed =
        (!lists.modules.path || list_modules(link, &results->cut.chunks, &lists.modules.text)) &&
        (!lists.dependencies.path ||
         list_dependencies(link, &results->assembled.assembler, &lists.dependencies));
    ok = is_listed && observe_prepare(link->observation) && list_begin(&lists.modules) &&
         list_begin(&lists.dependencies) &&
         (!has_result || put_result(link, results, &lists.result)) &&
         observe_fill(link->observation);
    /* Inputs are checked for changes for the last time. */
    ok = ok && state_check_changes(link);
    ok = ok && observe_commit(link->observation) && output_commit(&lists.result) &&
         output_commit(&lists.modules.output) && output_commit(&lists.dependencies.output);
    return ok || (is_listed && diag_blame(LINK_ENVIRONMENT));
}

/* Measured on nvlink 13.0 with -arch=compute_NN, which nvcc -rdc=true -arch=compute_NN passes to
 * it: nvlink reads the inputs, makes no program, and writes only the list of module ids, the only
 * file that nvcc names. */
bool back_end_virtual(const struct link *link, const struct results *results)
{
    static const char why[] =
        "the target is virtual: no program is linked, the driver compiles the "
        "PTX of whole objects";

    if (link->request->modules_file) /* all that nvcc wants */
        diag_verbose("%s", why);
    else
        diag_warning("%s; nothing is written", why);
    return link->request->dry_run ||
           (diag_error_count() == link->errors_before && write_files(link, results, false));
}

/* Writes the program as one module. A module with debug sections that describe all of it cannot
 * share a text with another one. */
static bool emit_ptx(const struct link *link, const struct results *results)
{
    if (results->cut.chunks.count != 1 || link->member_cubin_count > 0)
        return diag_fatal("-emit-ptx: the program cannot be one PTX module: %s",
                          link->member_cubin_count > 0     ? "some members have machine code only"
                          : results->cut.chunks.count == 0 ? "no input has PTX for the target"
                          : link->group_count > 1
                              ? "options for the assembler are stored in its modules, and differ; "
                                "--ignore-stored-options leaves them out"
                              : "several modules have debug sections (-G)");
    if (link->groups->options.count)
        diag_info("-emit-ptx: options for the assembler were stored in the inputs, and are not "
                  "part of PTX; -vv names them");
    return write_files(link, results, true);
}

bool back_end_texts(const struct link *link, const struct results *results)
{
    if (link->member_cubin_count || link->members.lto_count || link->bitcode.count)
        return diag_fatal(
            "--emit-texts: some members have no PTX: machine code, LTO-IR or bitcode");
    return write_files(link, results, true);
}

bool back_end_ltoir(const struct link *link, const struct results *results)
{
    return write_files(link, results, !link->request->dry_run);
}

bool back_end_early(const struct link *link, const struct results *results)
{
    const struct link_request *request = link->request;

    if (!request->dry_run && !request->distribution.emit_plan)
        return emit_ptx(link, results);
    if (request->dry_run && !state_check_changes(link))
        return false;
    return (observe_prepare(link->observation) && observe_fill(link->observation) &&
            observe_commit(link->observation)) ||
           diag_blame(LINK_ENVIRONMENT);
}

static struct observe_work merge_work(const struct link *link, const struct cubins *cubins)
{
    struct observe_work work = {cubins->count + link->member_cubin_count, "cubins", 0};

    for (size_t i = 0; i < cubins->count; i++)
        work.bytes += cubins->list[i].size;
    for (size_t i = 0; i < link->members.count; i++)
        if (link->members.list[i].role == MEMBER_CUBIN)
            work.bytes += link->members.list[i].entry.payload.size;
    return work;
}

bool back_merge(const struct link *link, const struct cut *cut, const struct assembled *assembled,
                struct merged *merged)
{
    bool ok = merge(link, cut, assembled, merged);

    ok = ok && (verbose_callgraph(&merged->report, link->request->callgraph) ||
                diag_blame(LINK_ENVIRONMENT));
    if (ok && (diag_state_get()->verbose > 1 || state_has_merge(link, &cut->chunks)))
        verbose_image(&merged->report, link->members.arch);
    observe_stage(link->observation, "merge", merge_work(link, &assembled->cubins));
    return ok;
}

bool back_write(const struct link *link, const struct results *results)
{
    return diag_error_count() == link->errors_before && write_files(link, results, true);
}
