/* toolkit.c: looking for files; the last resort is to ask nvcc, which costs some milliseconds. */
#include "lto/toolkit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/exec.h"
#include "base/memory.h"
#include "base/text.h"

/* As the toolkits of CUDA 12 and 13 have them: packages for development have the plain name, those
 * for running programs only the versions. */
static const char *const inside[] = {
    "lib64/libnvJitLink.so",
    "lib64/libnvJitLink.so.13",
    "lib64/libnvJitLink.so.12",
    "targets/x86_64-linux/lib/libnvJitLink.so",
    "targets/sbsa-linux/lib/libnvJitLink.so",
    "lib/libnvJitLink.so",
    "lib/libnvJitLink.so.13",
    "lib/libnvJitLink.so.12",
};

/* nvcc is stopped when it does not answer; it does so within milliseconds. */
#define NVCC_SECONDS 10

static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static void note_tried(struct buffer *tried, struct text place)
{
    buffer_printf(tried, "%s'%.*s'", tried->size ? ", " : "", TEXT_ARG(place));
}

static char *try_toolkit(struct buffer *tried, struct text folder)
{
    struct buffer path = {0};

    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        buffer_free(&path);
        buffer_printf(&path, "%.*s/%s", TEXT_ARG(folder), inside[i]);
        if (is_file(path.data))
            return path.data;
    }
    buffer_free(&path);
    note_tried(tried, folder);
    return NULL;
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
static char *try_program(struct buffer *tried, const char *program)
{
    char real[PATH_MAX];

    if (access(program, X_OK) != 0 || !realpath(program, real))
        return NULL;
    return try_toolkit(tried, parent_of(parent_of(text_of(real))));
}

/* nvcc says what it takes for its toolkit in a line "#$ TOP=...", wherever it was run from. */
static char *ask_nvcc(struct buffer *tried, const char *nvcc)
{
    const char *const argv[] = {nvcc,        "-dryrun", "-c",        "-x", "cu",
                                "/dev/null", "-o",      "/dev/null", NULL};
    const struct exec_request request = {
        .argv = argv, .output_limit = 65536, .timeout = NVCC_SECONDS};
    struct exec_result result;
    struct context_cleanup cleanup;
    char *found = NULL;
    const char *top;

    exec_run(&request, &result);
    context_defer(&cleanup, memory_cleanup, &result.output);
    top = result.output ? strstr(result.output, "#$ TOP=") : NULL;
    if (top) {
        top += strlen("#$ TOP=");
        found = try_toolkit(tried, (struct text){top, strcspn(top, "\r\n")});
    }
    context_clean(&cleanup);
    return found;
}

/* One folder of PATH; remembers the first nvcc that is there. */
static char *try_path_folder(struct buffer *tried, struct text folder, struct buffer *nvcc)
{
    static const char *const programs[] = {"nvcc", "ptxas"};
    struct buffer path = {0};
    struct context_cleanup cleanup;
    char *found = NULL;

    context_defer(&cleanup, buffer_cleanup, &path);
    for (size_t i = 0; i < 2 && !found; i++) {
        path.size = 0;
        buffer_printf(&path, "%.*s/%s", TEXT_ARG(folder), programs[i]);
        found = try_program(tried, path.data);
        if (!found && i == 0 && nvcc->size == 0 && access(path.data, X_OK) == 0)
            buffer_printf(nvcc, "%s", path.data); /* with a NUL, unlike buffer_string */
    }
    context_clean(&cleanup);
    return found;
}

static char *try_path(struct buffer *tried)
{
    const char *cursor = getenv("PATH");
    struct buffer nvcc = {0};
    struct context_cleanup cleanup;
    char *found = NULL;

    context_defer(&cleanup, buffer_cleanup, &nvcc);
    while (cursor && !found) {
        size_t size = strcspn(cursor, ":");

        found = try_path_folder(tried, size ? (struct text){cursor, size} : TEXT("."), &nvcc);
        cursor = cursor[size] ? cursor + size + 1 : NULL;
    }
    if (!found && nvcc.size)
        found = ask_nvcc(tried, nvcc.data);
    context_clean(&cleanup);
    return found;
}

char *toolkit_find_nvjitlink(const struct toolkit_request *request, struct buffer *tried)
{
    const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    char *found = NULL;

    if (request->nvjitlink) {
        if (is_file(request->nvjitlink))
            return memory_copy_string(request->nvjitlink, strlen(request->nvjitlink));
        note_tried(tried, text_of(request->nvjitlink));
        return NULL;
    }
    if (request->cuda_path)
        return try_toolkit(tried, text_of(request->cuda_path));
    if (request->nvvm_path)
        found = try_toolkit(tried, parent_of(text_of(request->nvvm_path)));
    for (size_t i = 0; i < 2 && !found; i++) {
        const char *folder = getenv(variables[i]);

        if (folder && *folder)
            found = try_toolkit(tried, text_of(folder));
    }
    return found ? found : try_path(tried);
}
