/* stage_write.c: the files that a link writes: the image, lists and reports, all or none. */
#include "base/context.h"
#include "diag/diag.h"
#include "input/used.h"
#include "link/stages.h"
#include "output/output.h"
#include "ptx/program.h"

/* The files, which are renamed to their final names in this order. */
enum { FILE_RESULT, FILE_MODULES, FILE_DEPENDENCIES, FILES };

struct files {
    struct output outputs[FILES];
    struct buffer texts[FILES]; /* of the lists that describe the result */
    struct arena arena;
};

static void free_files(void *argument)
{
    struct files *files = argument;

    for (size_t i = 0; i < FILES; i++) {
        output_abort(&files->outputs[i]);
        buffer_free(&files->texts[i]);
    }
    arena_free(&files->arena);
}

static bool begin_list(struct files *files, size_t i, const char *path)
{
    return !path || (output_open(&files->outputs[i], path) &&
                     output_append(&files->outputs[i], buffer_bytes(&files->texts[i])) &&
                     output_finish(&files->outputs[i]));
}

static bool commit_all(struct files *files)
{
    for (size_t i = 0; i < FILES; i++)
        if (!output_commit(&files->outputs[i]))
            return false;
    return true;
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

    observe_stage(link->observation, "write", (struct observe_work){.bytes = output->size});
    return ok;
}

/* Writes the result, if there is one, the requested lists and the reports. All are complete before
 * the first gets its final name. The reports are renamed first, then the result, then the lists. */
static bool write_all_files(const struct link *link, bool has_result)
{
    const struct output closed = {.fd = -1, .slot = -1};
    struct files files = {.outputs = {closed, closed, closed}};
    const char *modules = link->request->modules_file, *dependencies = NULL;
    bool is_listed, ok;

    CONTEXT_DEFER(free_files, &files);
    if (has_result)
        dependencies = dependencies_path(link, &files.arena);
    is_listed = (!modules || list_module_ids(link, &files.texts[FILE_MODULES])) &&
                (!dependencies ||
                 (dependencies_rule(link, &files.texts[FILE_DEPENDENCIES]) &&
                  overwrite_check(link->request, &link->inputs, dependencies)) ||
                 diag_blame(LINK_USAGE));
    ok = is_listed && observe_prepare(link->observation) &&
         begin_list(&files, FILE_MODULES, modules) &&
         begin_list(&files, FILE_DEPENDENCIES, dependencies) &&
         (!has_result || put_result(link, &files.outputs[FILE_RESULT])) &&
         observe_fill(link->observation);
    /* Inputs are checked for changes for the last time. */
    ok = ok && state_check_changes(link);
    ok = ok && observe_commit(link->observation) && commit_all(&files);
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
