/* overwrite_check.c: compares files by device and inode, not by name.
 *
 * An output that does not exist yet is identified by its folder and its name there. */
#include "link/stages.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "diag/diag.h"

#define MOST_OUTPUTS 10

struct output_path {
    const char *path;
    const char *option;
    struct file_identity place; /* of the file, if it exists */
    struct file_identity folder;
    const char *name; /* name in the folder */
};

struct input_path {
    const char *path;
    struct file_identity place;
};

struct paths {
    struct arena arena;
    struct output_path outputs[MOST_OUTPUTS];
    size_t output_count;
    struct input_path *inputs;
    size_t input_count;
    struct file_identity keep; /* --keep's folder, if it exists */
    DIR *folder;
};

static void free_paths(void *argument)
{
    struct paths *paths = argument;

    if (paths->folder)
        closedir(paths->folder);
    arena_free(&paths->arena);
}

static struct file_identity place_at(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? file_identity_of(&status) : (struct file_identity){0};
}

static void add_output(struct paths *paths, const char *option, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *folder = ".";

    if (!path)
        return;
    if (slash)
        folder = arena_string(&paths->arena, (struct text){path, (size_t)(slash - path) + 1});
    paths->outputs[paths->output_count++] = (struct output_path){
        .path = path,
        .option = option,
        .place = place_at(path),
        .folder = place_at(folder),
        .name = slash ? slash + 1 : path,
    };
}

static void note_input_path(struct paths *paths, const char *path, struct file_identity place)
{
    if (place.is_known)
        paths->inputs[paths->input_count++] = (struct input_path){path, place};
}

/* Adds the files that the link reads, the programs that it runs, and minilink itself. */
static void add_input_paths(struct paths *paths, const struct link_request *request,
                            const struct inputs *inputs)
{
    const struct assembler_request *assembler = &request->assembler;
    static const char own[] = "/proc/self/exe";
    const char *const others[] = {request->index_file,
                                  assembler->ptxas_path,
                                  assembler_plugin_path(assembler->name),
                                  request->nvjitlink,
                                  request->llvm,
                                  request->distribution.resume_plan,
                                  request->distribution.program,
                                  own};
    size_t count = sizeof others / sizeof *others;
    size_t most = inputs->count + inputs->thin_files.count + request->response_file_count + count;

    paths->inputs = arena_alloc(&paths->arena, most, sizeof *paths->inputs);
    for (size_t i = 0; i < inputs->count; i++)
        note_input_path(paths, inputs->files[i].path, inputs->files[i].place);
    for (size_t i = 0; i < inputs->thin_files.count; i++)
        note_input_path(paths, inputs->thin_files.list[i], place_at(inputs->thin_files.list[i]));
    for (size_t i = 0; i < request->response_file_count; i++)
        note_input_path(paths, request->response_files[i], place_at(request->response_files[i]));
    for (size_t i = 0; i < count; i++)
        if (others[i])
            note_input_path(paths, others[i] == own ? "minilink itself" : others[i],
                            place_at(others[i]));
}

static const char *find_input_path(const struct paths *paths, struct file_identity place)
{
    for (size_t i = 0; i < paths->input_count; i++)
        if (file_identity_equal(paths->inputs[i].place, place))
            return paths->inputs[i].path;
    return NULL;
}

static bool check_output(const struct paths *paths, size_t at)
{
    const struct output_path *output = &paths->outputs[at];
    const char *input = find_input_path(paths, output->place);

    if (input)
        return diag_fatal("Output file '%s' (%s) is input file '%s'", output->path, output->option,
                          input);
    if (file_identity_equal(output->folder, paths->keep) && save_temps_is_name(output->name))
        return diag_fatal("Output file '%s' (%s) is one of those that --keep makes", output->path,
                          output->option);
    for (size_t i = 0; i < at; i++) {
        const struct output_path *other = &paths->outputs[i];
        bool is_same_name = file_identity_equal(other->folder, output->folder) &&
                            strcmp(other->name, output->name) == 0;

        /* A device is the same file, but nothing in it is lost. */
        if (file_identity_equal(other->place, output->place) ||
            (is_same_name && access(output->path, F_OK) != 0))
            return diag_fatal("Output file '%s' is named twice, by %s and by %s", output->path,
                              other->option, output->option);
    }
    return true;
}

/* Checks that no file that --keep may replace is an input. */
static bool check_kept(struct paths *paths, const char *directory)
{
    const struct dirent *entry;

    paths->folder = opendir(directory);
    while (paths->folder && (entry = readdir(paths->folder))) {
        const char *path, *input;

        if (!save_temps_is_name(entry->d_name))
            continue;
        path = arena_printf(&paths->arena, "%s/%s", directory, entry->d_name);
        input = find_input_path(paths, place_at(path));
        if (input)
            return diag_fatal("Input file '%s' is one of those that --keep=%s makes", input,
                              directory);
    }
    return true;
}

/* Standard output may be appended to a file, which must not be an input. */
static bool check_standard_output(const struct paths *paths)
{
    struct stat status;
    const char *input;

    if (fstat(STDOUT_FILENO, &status) || !S_ISREG(status.st_mode))
        return true;
    input = find_input_path(paths, file_identity_of(&status));
    return !input || diag_fatal("The standard output is input file '%s'", input);
}

static bool is_dash(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static bool prints(const struct link_request *request)
{
    const struct observe_request *observe = &request->observe;

    return request->explain_split || request->merge.callgraph == CALLGRAPH_DOT ||
           request->cache.statistics || is_dash(request->output) ||
           is_dash(request->modules_file) || is_dash(request->dependency_file) ||
           is_dash(request->reproduce) || is_dash(observe->times) || is_dash(observe->trace) ||
           is_dash(observe->map);
}

bool overwrite_check_late(const char *option, const char *path, const struct link_request *request,
                          const struct inputs *inputs)
{
    struct paths paths = {0};

    CONTEXT_DEFER(free_paths, &paths);
    add_input_paths(&paths, request, inputs);
    add_output(&paths, option, path);
    return check_output(&paths, 0);
}

static void add_outputs(struct paths *paths, const struct link_request *request)
{
    const struct observe_request *observe = &request->observe;
    const struct {
        const char *option, *path;
        bool may_share; /* reports that name standard output follow each other there */
    } outputs[MOST_OUTPUTS] = {
        {"-o", request->output, false},
        {"-register-link-binaries", request->modules_file, false},
        {"--dependency-file", request->dependency_file, false},
        {"--reproduce", request->reproduce, false},
        {"-time", observe->times, true},
        {"--time-trace", observe->trace, true},
        {"--report", observe->report_page, true},
        {"--report", observe->report_data, true},
        {"--map", observe->map, true},
        {"--emit-plan", request->distribution.emit_plan, false},
    };

    for (size_t i = 0; i < MOST_OUTPUTS; i++)
        if (!outputs[i].may_share || !is_dash(outputs[i].path))
            add_output(paths, outputs[i].option, outputs[i].path);
}

bool overwrite_check(const struct link_request *request, const struct inputs *inputs)
{
    struct paths paths = {0};
    bool ok = true;

    CONTEXT_DEFER(free_paths, &paths);
    add_input_paths(&paths, request, inputs);
    add_outputs(&paths, request);
    if (request->keep)
        paths.keep = place_at(request->keep);
    for (size_t i = 0; i < paths.output_count; i++)
        ok = check_output(&paths, i) && ok;
    return ok && (!prints(request) || check_standard_output(&paths)) &&
           (!request->keep || check_kept(&paths, request->keep));
}
