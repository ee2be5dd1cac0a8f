/* toolkit.c: looking for files; the last resort is to ask nvcc, which costs some milliseconds. */
#include "os/toolkit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/text.h"
#include "os/exec.h"
#include "os/program_path.h"

/* What is looked for: one of the names, in one of the folders of a toolkit. Lists end with NULL. */
struct wanted {
    const char *const *folders, *const *names;
    bool (*is_it)(const char *path);
};

/* As the toolkits of CUDA 12 and 13 have them: packages for development have the plain name, those
 * for running programs only the versions. ARM servers have sbsa-linux, Jetson aarch64-linux. */
static const char *const library_folders[] = {"lib64/",
                                              "targets/x86_64-linux/lib/",
                                              "targets/sbsa-linux/lib/",
                                              "targets/aarch64-linux/lib/",
                                              "lib/",
                                              NULL};
static const char *const library_names[] = {"libnvJitLink.so", "libnvJitLink.so.13",
                                            "libnvJitLink.so.12", NULL};

static const char *const ptxas_folders[] = {"bin/", NULL};
static const char *const ptxas_names[] = {"ptxas", NULL};

/* nvcc is stopped when it does not answer; it does so within milliseconds. */
#define NVCC_SECONDS 10

static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static const struct wanted ptxas = {ptxas_folders, ptxas_names, program_path_is};

static void note_tried(struct buffer *tried, struct text place, const char *in_it)
{
    if (tried)
        buffer_printf(tried, "%s'%.*s%s'", tried->size ? ", " : "", TEXT_ARG(place), in_it);
}

/* The first of the names in the folder that is what is wanted, or NULL. */
static char *try_folder(const struct wanted *wanted, struct text toolkit, const char *folder)
{
    struct buffer path = {0};
    char *found = NULL;

    CONTEXT_DEFER(buffer_cleanup, &path);
    for (const char *const *name = wanted->names; *name && !found; name++) {
        path.size = 0;
        buffer_printf(&path, "%.*s/%s%s", TEXT_ARG(toolkit), folder, *name);
        if (wanted->is_it(path.data))
            found = buffer_take(&path, NULL);
    }
    return found;
}

static char *try_toolkit(const struct wanted *wanted, struct buffer *tried, struct text toolkit)
{
    char *found = NULL;

    for (const char *const *folder = wanted->folders; *folder && !found; folder++)
        found = try_folder(wanted, toolkit, *folder);
    if (!found)
        note_tried(tried, toolkit, wanted == &ptxas ? "/bin/ptxas" : "");
    return found;
}

/* The folder that holds `path`; trailing slashes do not count. */
static struct text parent_of(struct text path)
{
    while (path.size > 1 && path.data[path.size - 1] == '/')
        path.size--;
    while (path.size > 0 && path.data[path.size - 1] != '/')
        path.size--;
    return path.size > 1 ? (struct text){path.data, path.size - 1} : TEXT(".");
}

/* The toolkit whose bin/ holds `program`, which may be a symbolic link into it. */
static char *try_program(const struct wanted *wanted, struct buffer *tried, const char *program)
{
    char real[PATH_MAX];

    if (access(program, X_OK) != 0 || !realpath(program, real))
        return NULL;
    return try_toolkit(wanted, tried, parent_of(parent_of(text_of(real))));
}

/* nvcc says what it takes for its toolkit in a line "#$ TOP=...", wherever it was run from. */
static char *ask_nvcc(const struct wanted *wanted, struct buffer *tried, const char *nvcc)
{
    const char *const argv[] = {nvcc,        "-dryrun", "-c",        "-x", "cu",
                                "/dev/null", "-o",      "/dev/null", NULL};
    const struct exec_request request = {
        .argv = argv, .output_limit = 65536, .timeout = NVCC_SECONDS};
    struct exec_result result;
    char *found = NULL;
    const char *top;

    exec_run(&request, &result);
    CONTEXT_DEFER(memory_cleanup, &result.output);
    top = result.output ? strstr(result.output, "#$ TOP=") : NULL;
    if (top) {
        top += strlen("#$ TOP=");
        found = try_toolkit(wanted, tried, (struct text){top, strcspn(top, "\r\n")});
    }
    return found;
}

/* Beside the programs of a toolkit that are in one folder of PATH. */
static char *try_path_folder(const struct wanted *wanted, struct buffer *tried, struct text folder)
{
    static const char *const programs[] = {"nvcc", "ptxas"};
    struct buffer path = {0};
    char *found = NULL;

    CONTEXT_DEFER(buffer_cleanup, &path);
    for (size_t i = 0; i < 2 && !found; i++) {
        path.size = 0;
        buffer_printf(&path, "%.*s/%s", TEXT_ARG(folder), programs[i]);
        found = try_program(wanted, tried, path.data);
    }
    return found;
}

static char *find_library_by_path(const struct wanted *wanted, struct buffer *tried)
{
    const char *list = getenv("PATH");
    struct text folder;
    char *found = NULL, *nvcc = NULL;

    CONTEXT_DEFER(memory_cleanup, &nvcc);
    while (!found && program_path_next(&list, &folder))
        found = try_path_folder(wanted, tried, folder);
    if (!found)
        nvcc = program_path_find(TEXT("nvcc"));
    if (nvcc)
        found = ask_nvcc(wanted, tried, nvcc);
    return found;
}

static char *find_ptxas_by_path(struct buffer *tried)
{
    const char *list = getenv("PATH");
    struct text folder;
    char *found = NULL;

    while (!found && program_path_next(&list, &folder)) {
        found = try_folder(&ptxas, folder, "");
        if (!found)
            note_tried(tried, folder, "/ptxas");
    }
    return found;
}

/* All but PATH. */
static char *find(const struct wanted *wanted, const struct toolkit_request *request,
                  struct buffer *tried)
{
    const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    char *found = NULL;

    if (request->file) {
        if (wanted->is_it(request->file))
            return memory_copy_string(request->file, strlen(request->file));
        note_tried(tried, text_of(request->file), "");
        return NULL;
    }
    if (request->cuda_path)
        return try_toolkit(wanted, tried, text_of(request->cuda_path));
    if (request->nvvm_path)
        found = try_toolkit(wanted, tried, parent_of(text_of(request->nvvm_path)));
    for (size_t i = 0; i < 2 && !found; i++) {
        const char *folder = getenv(variables[i]);

        if (folder && *folder)
            found = try_toolkit(wanted, tried, text_of(folder));
    }
    return found;
}

/* What is named is not replaced by what is found elsewhere. */
static bool is_named(const struct toolkit_request *request)
{
    return request->file || request->cuda_path;
}

char *toolkit_find_ptxas(const struct toolkit_request *request, struct buffer *tried)
{
    char *found = find(&ptxas, request, tried);

    return found || is_named(request) ? found : find_ptxas_by_path(tried);
}

char *toolkit_find_nvjitlink(const struct toolkit_request *request, struct buffer *tried)
{
    const struct wanted library = {library_folders, library_names,
                                   request->is_library ? request->is_library : is_file};
    char *found = find(&library, request, tried);

    return found || is_named(request) ? found : find_library_by_path(&library, tried);
}
