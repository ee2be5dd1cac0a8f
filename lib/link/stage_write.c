/* stage_write.c: the files that a link writes: the image, lists and reports, all or none; what
 * --keep keeps; and whether any of them would overwrite another, or an input. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag/diag.h"
#include "input/used.h"
#include "link/stages.h"
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

/* True for names that such files have in the folder. */
static bool is_kept_name(const char *name)
{
    static const char *const patterns[] = {"@(linked|lto|bitcode).ptx",
                                           "@(linked|lto|bitcode|chunk)-+([0-9]).ptx",
                                           "chunk-+([0-9]).cubin"};

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fnmatch(patterns[i], name, FNM_EXTMATCH) == 0)
            return true;
    return false;
}

/* A file that is read, or that an option writes. Files are compared by device and inode, not by
 * name; an output that does not exist yet is identified by its folder and its name there. */
struct named_file {
    const char *path;
    const char *option;          /* NULL = it is read */
    struct file_identity place;  /* of the file, if it exists */
    struct file_identity folder; /* of an output, */
    const char *name;            /* and its name there */
};

struct paths {
    struct arena arena;
    struct named_file *files; /* those that are read first */
    size_t count, capacity;
    struct file_identity keep; /* --keep's folder, if it exists */
};

static struct file_identity place_at(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? file_identity_of(&status) : (struct file_identity){0};
}

static struct named_file *add_file(struct paths *paths, const char *path)
{
    struct named_file *file =
        &ARENA_PUSH(&paths->arena, paths->files, paths->count, paths->capacity);

    *file = (struct named_file){.path = path, .place = place_at(path)};
    return file;
}

static void add_output(struct paths *paths, const char *option, const char *path)
{
    const char *name = basename(path);
    const struct text folder = {path, (size_t)(name - path)};
    struct named_file *file = add_file(paths, path);

    file->option = option;
    file->folder = place_at(folder.size ? arena_string(&paths->arena, folder) : ".");
    file->name = name;
}

/* Adds the files that the link reads, the programs that it runs, and minilink itself. */
static void add_inputs(struct paths *paths, const struct link_request *request,
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
        add_file(paths, inputs->files[i].path)->place = inputs->files[i].place;
    for (size_t i = 0; i < inputs->thin_files.count; i++)
        add_file(paths, inputs->thin_files.list[i]);
    for (size_t i = 0; i < request->response_file_count; i++)
        add_file(paths, request->response_files[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i])
            add_file(paths, others[i]);
    add_file(paths, "/proc/self/exe")->path = "minilink itself";
}

static const char *find_input(const struct paths *paths, struct file_identity place)
{
    for (size_t i = 0; i < paths->count && !paths->files[i].option; i++)
        if (file_identity_equal(paths->files[i].place, place))
            return paths->files[i].path;
    return NULL;
}

/* Compares an output with all before it. */
static bool check_output(const struct paths *paths, const struct named_file *output)
{
    const char *input = find_input(paths, output->place);

    if (input)
        return diag_fatal("Output file '%s' (%s) is input file '%s'", output->path, output->option,
                          input);
    if (file_identity_equal(output->folder, paths->keep) && is_kept_name(output->name))
        return diag_fatal("Output file '%s' (%s) is one of those that --keep makes", output->path,
                          output->option);
    for (const struct named_file *other = paths->files; other < output; other++) {
        bool is_same_name = other->option && file_identity_equal(other->folder, output->folder) &&
                            strcmp(other->name, output->name) == 0;

        /* A device is the same file, but nothing in it is lost. */
        if (file_identity_equal(other->place, output->place) ||
            (is_same_name && access(output->path, F_OK) != 0))
            return diag_fatal("Output file '%s' is named twice, by %s and by %s", output->path,
                              other->option, output->option);
    }
    return true;
}

static void close_folder(void *folder)
{
    closedir(folder);
}

/* Checks that no file that --keep may replace is an input. */
static bool check_kept(struct paths *paths, const char *directory)
{
    DIR *folder = opendir(directory);
    const struct dirent *entry;

    if (!folder)
        return true;
    CONTEXT_DEFER(close_folder, folder);
    while ((entry = readdir(folder))) {
        const char *input = NULL;

        if (is_kept_name(entry->d_name))
            input = find_input(
                paths, place_at(arena_printf(&paths->arena, "%s/%s", directory, entry->d_name)));
        if (input)
            return diag_fatal("Input file '%s' is one of those that --keep=%s makes", input,
                              directory);
    }
    return true;
}

static bool is_dash(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* What is printed may be appended to a file, which must not be an input. */
static bool check_standard_output(const struct paths *paths, const struct link_request *request)
{
    bool prints = request->explain_split || request->merge.callgraph == CALLGRAPH_DOT ||
                  request->cache.statistics || is_dash(request->output) ||
                  is_dash(request->modules_file) || is_dash(request->dependency_file) ||
                  is_dash(request->reproduce) || is_dash(request->observe.times) ||
                  is_dash(request->observe.trace) || is_dash(request->observe.map);
    struct stat status;
    const char *input;

    if (!prints || fstat(STDOUT_FILENO, &status) || !S_ISREG(status.st_mode))
        return true;
    input = find_input(paths, file_identity_of(&status));
    return !input || diag_fatal("The standard output is input file '%s'", input);
}

static void add_outputs(struct paths *paths, const struct link_request *request,
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
        if (outputs[i].path && !(outputs[i].may_share && is_dash(outputs[i].path)))
            add_output(paths, outputs[i].option, outputs[i].path);
}

bool overwrite_check(const struct link_request *request, const struct inputs *inputs,
                     const char *dependencies)
{
    struct paths paths = {0};
    size_t i;
    bool ok = true;

    CONTEXT_DEFER(arena_cleanup, &paths.arena);
    add_inputs(&paths, request, inputs);
    i = paths.count;
    add_outputs(&paths, request, dependencies);
    if (request->keep)
        paths.keep = place_at(request->keep);
    for (; i < paths.count; i++)
        ok = check_output(&paths, &paths.files[i]) && ok;
    return ok && check_standard_output(&paths, request) &&
           (!request->keep || check_kept(&paths, request->keep));
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
