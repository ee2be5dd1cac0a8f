/* stage_write.c: the files that a link writes: the image, lists and reports, all or none; what
 * --keep keeps; and whether an output would overwrite another, or an input. */
#include <errno.h>
#include <sys/stat.h>

#include "diag/diag.h"
#include "input/used.h"
#include "link/internal.h"
#include "output/output.h"
#include "ptx/program.h"

bool save_temps(const struct link *link, const char *stem, size_t index, const char *suffix,
                struct bytes bytes)
{
    const char *folder = link->request->keep;
    LOCAL_ARENA(arena);
    const char *path;

    if (!folder)
        return true;
    if (mkdir(folder, 0777) && errno != EEXIST) {
        diag_fatal("Could not make folder '%s': %s", folder, strerror(errno));
        return diag_blame(LINK_ENVIRONMENT);
    }
    path = index == SIZE_MAX ? arena_printf(&arena, "%s/%s.%s", folder, stem, suffix)
                             : arena_printf(&arena, "%s/%s-%zu.%s", folder, stem, index, suffix);
    return output_write_file(path, bytes) || diag_blame(LINK_ENVIRONMENT);
}

/* A file that is read, or that an option writes. Files are compared by device and inode, not by
 * path; an output that does not exist yet, by its folder's, and its name there. */
struct named_file {
    const char *path;
    const char *option; /* NULL = it is read */
    struct file_identity place;
    const char *name; /* in the folder `place`; "" = `place` is the file */
};

struct named_files {
    struct arena arena;
    struct named_file *list; /* those that are read first */
    size_t count, capacity;
};

static struct named_file *add_file(struct named_files *files, const char *option, const char *path)
{
    struct named_file *file =
        &ARENA_PUSH(&files->arena, files->list, files->count, files->capacity);
    const char *name = basename(path);
    struct stat status;

    *file = (struct named_file){.path = path, .option = option, .name = ""};
    if (stat(path, &status) == 0) {
        file->place = file_identity_of(&status);
    } else if (option &&
               stat(arena_printf(&files->arena, "%.*s.", (int)(name - path), path), &status) == 0) {
        file->place = file_identity_of(&status);
        file->name = name;
    }
    return file;
}

/* Adds the files that the link reads, the programs that it runs, and minilink itself. */
static void add_inputs(struct named_files *files, const struct link_request *request,
                       const struct inputs *inputs)
{
    const char *const others[] = {request->index_file,
                                  request->assembler.ptxas_path,
                                  assembler_plugin_path(request->assembler.name),
                                  request->nvjitlink,
                                  request->llvm,
                                  request->distribution.resume_plan,
                                  request->distribution.program};

    for (size_t i = 0; i < inputs->count; i++)
        add_file(files, NULL, inputs->files[i].path)->place = inputs->files[i].place;
    for (size_t i = 0; i < inputs->thin_files.count; i++)
        add_file(files, NULL, inputs->thin_files.list[i]);
    for (size_t i = 0; i < request->response_file_count; i++)
        add_file(files, NULL, request->response_files[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i])
            add_file(files, NULL, others[i]);
    add_file(files, NULL, "/proc/self/exe")->path = "minilink itself";
}

static void add_outputs(struct named_files *files, const struct link_request *request,
                        const char *dependencies)
{
    const struct observe_request *observe = &request->observe;
    const struct {
        const char *option, *path;
        bool may_share; /* reports that name standard output follow each other there */
    } outputs[] = {
        {"-o", request->output, false},
        {"-register-link-binaries", request->modules_file, false},
        {"--dependency-file", dependencies, false},
        {"--reproduce", request->reproduce, false},
        {"-time", observe->times, true},
        {"--time-trace", observe->trace, true},
        {"--report", observe->report_page, true},
        {"--report", observe->report_data, true},
        {"--map", observe->map, true},
        {"--emit-plan", request->distribution.emit_plan, false},
    };

    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i].path && !(outputs[i].may_share && strcmp(outputs[i].path, "-") == 0))
            add_file(files, outputs[i].option, outputs[i].path);
}

/* Compares an output with all before it. A device may be named as often as one likes. */
static bool check_output(const struct named_files *files, const struct named_file *output)
{
    for (const struct named_file *other = files->list; other < output; other++) {
        if (!file_identity_equal(other->place, output->place) ||
            strcmp(other->name, output->name) != 0)
            continue;
        if (!other->option)
            return diag_fatal("Output file '%s' (%s) is input file '%s'", output->path,
                              output->option, other->path);
        return diag_fatal("Output file '%s' is named twice, by %s and by %s", output->path,
                          other->option, output->option);
    }
    return true;
}

bool overwrite_check(const struct link_request *request, const struct inputs *inputs,
                     const char *dependencies)
{
    struct named_files files = {0};
    bool ok = true;

    CONTEXT_DEFER(arena_cleanup, &files.arena);
    add_inputs(&files, request, inputs);
    add_outputs(&files, request, dependencies);
    for (size_t i = 0; i < files.count; i++)
        ok = (!files.list[i].option || check_output(&files, &files.list[i])) && ok;
    return ok;
}

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
    LOCAL_TABLE(compiled);

    for (size_t i = 0; i < link->members.count; i++)
        if (link->members.list[i].role == MEMBER_LTO)
            table_set(&compiled, text_of(link->members.list[i].file), 0);
    return modules_list(list, &link->inputs, &compiled, link->is_system_unused,
                        !state_has_merge(link));
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
 * nvlink reads the inputs, and writes only the list of module ids, which nvcc names. */
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
