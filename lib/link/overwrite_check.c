/* overwrite_check.c: compares files by device and inode, not by name.
 *
 * An output that does not exist yet is identified by its folder and its name there. */
#include "link/stages.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "diag/diag.h"

/* A file that is read, or that an option writes. */
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
    if (file_identity_equal(output->folder, paths->keep) && save_temps_is_name(output->name))
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

        if (save_temps_is_name(entry->d_name))
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
