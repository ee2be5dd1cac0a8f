/* stage_write.c: the files that a link writes: the image, lists and reports, all or none. */
#include "base/context.h"
#include "diag/diag.h"
#include "input/modules.h"
#include "link/stages.h"
#include "output/output.h"
#include "ptx/needed.h"

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

static bool append_result(const struct link *link, struct output *output)
{
    const struct chunk_cubin *finished = link->merged.finished;

    if (link->cached.is_found)
        return output_append(output, link->cached.output);
    if (link->request->emit_ltoir)
        return output_append(output, text_bytes(link->lto.ptx));
    if (link->request->emit_texts)
        return append_texts(link, output);
    if (link->request->emit_ptx)
        return output_append(output, text_bytes(link->cut.chunks.list[0].text));
    return finished ? output_append(output, chunk_cubin_bytes(finished))
                    : image_append(&link->merged.image, output);
}

static uint64_t image_bytes_of(const struct link *link)
{
    const struct chunk_cubin *finished = link->merged.finished;

    if (link->cached.is_found)
        return link->cached.output.size;
    return finished ? finished->size : link->merged.image.file_size;
}

static bool list_module_ids(const struct link *link, struct buffer *list)
{
    struct table compiled = {0};

    CONTEXT_DEFER(table_cleanup, &compiled);
    for (size_t i = 0; i < link->members.count; i++)
        if (link->members.list[i].role == MEMBER_LTO)
            table_set(&compiled, text_of(link->members.list[i].file), 0);
    return modules_list(list, &link->inputs, &compiled, link->is_system_unused,
                        state_lists_last_first(link));
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
static bool put_result(const struct link *link, struct output *output)
{
    struct link_product *product = link->request->product;
    bool ok = product ? output_open_memory(output, &product->bytes)
                      : output_open(output, link->request->output);

    /* A device or pipe is written directly: check for changed inputs before. */
    ok = ok && (product || output->temporary || state_check_changes(link)) &&
         append_result(link, output) && output_finish(output);
    if (product)
        fill_product(product, &link->merged.report);

    observe_stage(link->observation, "write", (struct observe_work){.bytes = image_bytes_of(link)});
    return ok;
}

/* Writes the result, if there is one, the requested lists and the reports. All are complete before
 * the first gets its final name. The reports are renamed first, then the result, then the lists. */
static bool write_all_files(const struct link *link, bool has_result)
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
    is_listed = (!lists.modules.path || list_module_ids(link, &lists.modules.text)) &&
                (!lists.dependencies.path ||
                 (dependencies_rule(link, &lists.dependencies.text) &&
                  overwrite_check_late("--dependency-file", lists.dependencies.path, link->request,
                                       &link->inputs)) ||
                 diag_blame(LINK_USAGE));
    ok = is_listed && observe_prepare(link->observation) && list_begin(&lists.modules) &&
         list_begin(&lists.dependencies) && (!has_result || put_result(link, &lists.result)) &&
         observe_fill(link->observation);
    /* Inputs are checked for changes for the last time. */
    ok = ok && state_check_changes(link);
    ok = ok && observe_commit(link->observation) && output_commit(&lists.result) &&
         output_commit(&lists.modules.output) && output_commit(&lists.dependencies.output);
    return ok || (is_listed && diag_blame(LINK_ENVIRONMENT));
}

/* Measured on nvlink with -arch=compute_NN, which nvcc -rdc=true -arch=compute_NN passes to it:
 * nvlink reads the inputs, makes no program, and writes only the list of module ids, the only file
 * that nvcc names. */
static bool end_virtual(const struct link *link)
{
    static const char why[] =
        "the target is virtual: no program is linked, the driver compiles the "
        "PTX of whole objects";

    if (link->request->modules_file) /* all that nvcc wants */
        diag_verbose("%s", why);
    else
        diag_warning("%s; nothing is written", why);
    return link->request->dry_run ||
           (diag_error_count() == link->errors_before && write_all_files(link, false));
}

/* Writes the program as one module. A module with debug sections that describe all of it cannot
 * share a text with another one. */
static bool emit_ptx(const struct link *link)
{
    if (link->cut.chunks.count != 1 || link->cubin_count > 0)
        return diag_fatal("-emit-ptx: the program cannot be one PTX module: %s",
                          link->cubin_count > 0         ? "some members have machine code only"
                          : link->cut.chunks.count == 0 ? "no input has PTX for the target"
                          : link->group_count > 1
                              ? "options for the assembler are stored in its modules, and differ; "
                                "--ignore-stored-options leaves them out"
                              : "several modules have debug sections (-G)");
    if (link->groups->options.count)
        diag_info("-emit-ptx: options for the assembler were stored in the inputs, and are not "
                  "part of PTX; -vv names them");
    return write_all_files(link, true);
}

static bool emit_texts(const struct link *link)
{
    if (link->cubin_count || link->members.lto_count || link->bitcode.count)
        return diag_fatal(
            "--emit-texts: some members have no PTX: machine code, LTO-IR or bitcode");
    return write_all_files(link, true);
}

bool stage_end_early(const struct link *link)
{
    const struct link_request *request = link->request;

    if (request->is_virtual)
        return end_virtual(link);
    if (request->emit_ltoir)
        return write_all_files(link, !request->dry_run);
    if (request->emit_texts && !request->dry_run)
        return emit_texts(link);
    if (!request->dry_run && !request->distribution.emit_plan)
        return emit_ptx(link);
    if (request->dry_run && !state_check_changes(link))
        return false;
    return (observe_prepare(link->observation) && observe_fill(link->observation) &&
            observe_commit(link->observation)) ||
           diag_blame(LINK_ENVIRONMENT);
}

bool stage_write(const struct link *link)
{
    return diag_error_count() == link->errors_before && write_all_files(link, true);
}
