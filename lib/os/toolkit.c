/* toolkit.c: searches for files; the last resort is to ask nvcc, which costs some milliseconds. */
#include "os/toolkit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/text.h"
#include "os/exec.h"
#include "os/program_path.h"

/* A search for one of the names in one of the folders of a toolkit. Lists end with NULL. */
struct search {
    const char *const *folders, *const *names;
    bool (*is_it)(const char *path);
    const char *shown;    /* appended to a toolkit that was searched in vain */
    struct buffer *tried; /* NULL = not wanted */
    char found[PATH_MAX];
};

/* As in the toolkits of CUDA 12 and 13: development packages have the plain name, runtime packages
 * only versioned ones. ARM servers have sbsa-linux, Jetson aarch64-linux. */
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

/* Timeout for nvcc, which answers within milliseconds. */
#define NVCC_SECONDS 10

static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static void note_tried(const struct search *search, struct text place, const char *in_it)
{
    if (search->tried)
        buffer_printf(search->tried, "%s'%.*s%s'", search->tried->size ? ", " : "", TEXT_ARG(place),
                      in_it);
}

/* Whether the folder has a file with one of the names that is_it() accepts. */
static bool try_folder(struct search *search, struct text toolkit, const char *folder)
{
    for (const char *const *name = search->names; *name; name++)
        if (snprintf(search->found, PATH_MAX, "%.*s/%s%s", TEXT_ARG(toolkit), folder, *name) <
                PATH_MAX &&
            search->is_it(search->found))
            return true;
    return false;
}

static bool try_toolkit(struct search *search, struct text toolkit)
{
    for (const char *const *folder = search->folders; *folder; folder++)
        if (try_folder(search, toolkit, *folder))
            return true;
    note_tried(search, toolkit, search->shown);
    return false;
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
static bool try_program(struct search *search, const char *program)
{
    char real[PATH_MAX];

    return access(program, X_OK) == 0 && realpath(program, real) &&
           try_toolkit(search, parent_of(parent_of(text_of(real))));
}

/* nvcc prints the folder of its toolkit in a line "#$ TOP=...", wherever it is run from. */
static bool ask_nvcc(struct search *search, const char *nvcc)
{
    const char *const argv[] = {nvcc,        "-dryrun", "-c",        "-x", "cu",
                                "/dev/null", "-o",      "/dev/null", NULL};
    const struct exec_request request = {
        .argv = argv, .output_limit = 65536, .timeout = NVCC_SECONDS};
    struct exec_result result;
    const char *top;

    exec_run(&request, &result);
    CONTEXT_DEFER(memory_cleanup, &result.output);
    top = result.output ? strstr(result.output, "#$ TOP=") : NULL;
    if (!top)
        return false;
    top += strlen("#$ TOP=");
    return try_toolkit(search, (struct text){top, strcspn(top, "\r\n")});
}

/* Searches the toolkits of nvcc and ptxas in one folder of PATH. */
static bool try_path_folder(struct search *search, struct text folder)
{
    static const char *const programs[] = {"nvcc", "ptxas"};
    char path[PATH_MAX];

    for (size_t i = 0; i < 2; i++)
        if (snprintf(path, sizeof path, "%.*s/%s", TEXT_ARG(folder), programs[i]) < PATH_MAX &&
            try_program(search, path))
            return true;
    return false;
}

static bool find_library_by_path(struct search *search)
{
    const char *list = getenv("PATH");
    char nvcc[PATH_MAX];

    for (struct text folder; program_path_next(&list, &folder);)
        if (try_path_folder(search, folder))
            return true;
    return program_path_find("nvcc", nvcc) && ask_nvcc(search, nvcc);
}

static bool find_ptxas_by_path(struct search *search)
{
    const char *list = getenv("PATH");

    for (struct text folder; program_path_next(&list, &folder);) {
        if (try_folder(search, folder, ""))
            return true;
        note_tried(search, folder, "/ptxas");
    }
    return false;
}

/* Searches only the file or toolkit that was named explicitly. */
static bool find_named(struct search *search, const struct toolkit_request *request)
{
    if (!request->file)
        return try_toolkit(search, text_of(request->cuda_path));
    if (search->is_it(request->file))
        return snprintf(search->found, PATH_MAX, "%s", request->file) < PATH_MAX;
    note_tried(search, text_of(request->file), "");
    return false;
}

/* Searches all places except PATH. */
static bool find_told(struct search *search, const struct toolkit_request *request)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};

    if (request->nvvm_path && try_toolkit(search, parent_of(text_of(request->nvvm_path))))
        return true;
    for (size_t i = 0; i < 2; i++) {
        const char *folder = getenv(variables[i]);

        if (folder && *folder && try_toolkit(search, text_of(folder)))
            return true;
    }
    return false;
}

static char *find(struct search *search, const struct toolkit_request *request,
                  bool (*find_by_path)(struct search *search))
{
    bool is_found = request->file || request->cuda_path
                        ? find_named(search, request)
                        : find_told(search, request) || find_by_path(search);

    return is_found ? memory_copy_string(search->found, strlen(search->found)) : NULL;
}

char *toolkit_find_ptxas(const struct toolkit_request *request, struct buffer *tried)
{
    struct search search = {.folders = ptxas_folders,
                            .names = ptxas_names,
                            .is_it = program_path_is,
                            .shown = "/bin/ptxas",
                            .tried = tried};

    return find(&search, request, find_ptxas_by_path);
}

char *toolkit_find_nvjitlink(const struct toolkit_request *request, struct buffer *tried)
{
    struct search search = {.folders = library_folders,
                            .names = library_names,
                            .is_it = request->is_library ? request->is_library : is_file,
                            .shown = "",
                            .tried = tried};

    return find(&search, request, find_library_by_path);
}
