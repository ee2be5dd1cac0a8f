/* toolkit.c: searches for files; the last resort is to ask nvcc, which costs some milliseconds. */
#include "os/toolkit.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts/targets.h"
#include "os/elf_file.h"
#include "os/exec.h"
#include "os/file.h"
#include "os/program.h"

/* A search for one of the names in one of the folders of a toolkit. Lists end with NULL. */
struct search {
    const char *const *folders, *const *names;
    bool (*is_it)(const char *path);
    const char *shown;            /* appended to a toolkit that was searched in vain */
    struct toolkit_search *trace; /* NULL = not wanted */
    char found[PATH_MAX];
};

/* As in the toolkits of CUDA 12 and 13, conda's and pip's too: development packages have the plain
 * name, runtime packages only versioned ones. ARM servers have sbsa-linux, Jetson aarch64-linux;
 * the last two are Debian's. */
static const char *const library_folders[] = {
    "lib64/", "targets/x86_64-linux/lib/", "targets/sbsa-linux/lib/", "targets/aarch64-linux/lib/",
    "lib/",   "lib/x86_64-linux-gnu/",     "lib/aarch64-linux-gnu/",  NULL};
static const char *const library_names[] = {"libnvJitLink.so", "libnvJitLink.so.13",
                                            "libnvJitLink.so.12", NULL};

static const char *const ptxas_folders[] = {"bin/", NULL};
static const char *const ptxas_names[] = {"ptxas", NULL};

/* "cu13", "python3.11": numbers from here on are not looked for. */
#define MOST_NUMBERED 100u

/* Timeout for nvcc, which answers within milliseconds. */
#define NVCC_SECONDS 10

bool toolkit_is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static void note_tried(const struct search *search, struct text place, const char *in_it)
{
    struct buffer *tried = search->trace ? &search->trace->tried : NULL;

    if (tried)
        buffer_printf(tried, "%s'%.*s%s'", tried->size ? ", " : "", TEXT_ARG(place), in_it);
}

/* Writes a path of PATH_MAX bytes. False when it is longer. */
static bool PRINTF(2, 3) put_path(char *path, const char *format, ...)
{
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(path, PATH_MAX, format, arguments);
    va_end(arguments);
    return size < PATH_MAX;
}

/* Whether the folder has a file with one of the names that is_it() accepts. */
static bool try_toolkit_folder(struct search *search, struct text toolkit, const char *folder)
{
    for (const char *const *name = search->names; *name; name++)
        if (put_path(search->found, "%.*s/%s%s", TEXT_ARG(toolkit), folder, *name) &&
            search->is_it(search->found))
            return true;
    return false;
}

static bool has_it(struct search *search, struct text toolkit)
{
    for (const char *const *folder = search->folders; *folder; folder++)
        if (try_toolkit_folder(search, toolkit, *folder))
            return true;
    return false;
}

static bool try_toolkit(struct search *search, struct text toolkit)
{
    if (has_it(search, toolkit))
        return true;
    note_tried(search, toolkit, search->shown);
    return false;
}

/* The folder "nvidia" of pip's packages: "cu13" holds a toolkit from 13.0 on; before, each package
 * had a folder (wheels of 11.8 to 13.5). */
static bool try_packages(struct search *search, const char *packages)
{
    char toolkit[PATH_MAX];

    if (access(packages, F_OK) != 0)
        return false;
    for (unsigned number = MOST_NUMBERED; number-- > 0;)
        if (put_path(toolkit, "%s/cu%u", packages, number) && access(toolkit, F_OK) == 0 &&
            has_it(search, text_of(toolkit)))
            return true;
    return (put_path(toolkit, "%s/cuda_nvcc", packages) && has_it(search, text_of(toolkit))) ||
           (put_path(toolkit, "%s/nvjitlink", packages) && has_it(search, text_of(toolkit)));
}

/* A toolkit, or where pip puts one: an environment, its site-packages, or their folder "nvidia". */
static bool try_root(struct search *search, struct text root)
{
    char path[PATH_MAX];

    while (root.size > 1 && root.data[root.size - 1] == '/')
        root.size--;
    if (has_it(search, root) ||
        (put_path(path, "%.*s", TEXT_ARG(root)) && try_packages(search, path)) ||
        (put_path(path, "%.*s/nvidia", TEXT_ARG(root)) && try_packages(search, path)))
        return true;
    for (unsigned number = MOST_NUMBERED; number-- > 0;)
        if (put_path(path, "%.*s/lib/python3.%u/site-packages/nvidia", TEXT_ARG(root), number) &&
            try_packages(search, path))
            return true;
    note_tried(search, root, search->shown);
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

/* The toolkit whose bin/ holds `program`, which may be a symbolic link into it. In pip's packages
 * before 13.0 its library is in a folder of its own. */
static bool try_program(struct search *search, const char *program)
{
    char real[PATH_MAX], library[PATH_MAX];
    struct text toolkit;

    if (access(program, X_OK) != 0 || !realpath(program, real))
        return false;
    toolkit = parent_of(parent_of(text_of(real)));
    return (text_ends(toolkit, TEXT("/cuda_nvcc")) &&
            put_path(library, "%.*s/nvjitlink", TEXT_ARG(parent_of(toolkit))) &&
            has_it(search, text_of(library))) ||
           try_toolkit(search, toolkit);
}

/* A place that is named: a library is that of the ptxas there, if there is one. */
static bool try_place(struct search *search, struct text root)
{
    struct search ptxas = {
        .folders = ptxas_folders, .names = ptxas_names, .is_it = program_path_is};

    return (search->folders == library_folders && try_root(&ptxas, root) &&
            try_program(search, ptxas.found)) ||
           try_root(search, root);
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

/* ptxas itself, and a library in the toolkits of the programs nvcc and ptxas. */
static bool find_by_path(struct search *search)
{
    const char *list = getenv("PATH");
    bool is_library = search->folders == library_folders;
    char path[PATH_MAX];

    for (struct text folder; program_path_next(&list, &folder);) {
        if (!is_library && try_toolkit_folder(search, folder, ""))
            return true;
        if (!is_library)
            note_tried(search, folder, "/ptxas");
        else if ((put_path(path, "%.*s/nvcc", TEXT_ARG(folder)) && try_program(search, path)) ||
                 (put_path(path, "%.*s/ptxas", TEXT_ARG(folder)) && try_program(search, path)))
            return true;
    }
    return is_library && program_path_find("nvcc", path) && ask_nvcc(search, path);
}

/* Searches only the file or toolkit that was named explicitly. */
static bool find_named_toolkit(struct search *search, const struct toolkit_request *request)
{
    if (!request->file)
        return try_place(search, text_of(request->cuda_path));
    if (search->is_it(request->file))
        return put_path(search->found, "%s", request->file);
    note_tried(search, text_of(request->file), "");
    return false;
}

/* Says through which place it was found. */
static bool tell_place(struct search *search, const char *why)
{
    if (search->trace)
        search->trace->why = why;
    return true;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

/* Searches what the variables name. */
static bool try_variables(struct search *search, const char *const *variables)
{
    for (; *variables; variables++)
        if (is_set(*variables) && try_place(search, text_of(getenv(*variables))))
            return tell_place(search, *variables);
    return false;
}

/* Programs on PATH are what the user runs, and so come before what an environment merely has:
 * PyTorch brings a libnvJitLink of its own, without nvcc. */
static bool find_anywhere(struct search *search, const struct toolkit_request *request)
{
    static const char *const chosen[] = {"CUDA_HOME", "CUDA_PATH", NULL};
    static const char *const active[] = {"VIRTUAL_ENV", "CONDA_PREFIX", NULL};

    if (request->nvvm_path && try_place(search, parent_of(text_of(request->nvvm_path))))
        return tell_place(search, "-nvvmpath");
    if (try_variables(search, chosen))
        return true;
    if (find_by_path(search))
        return tell_place(search, "PATH");
    return try_variables(search, active) ||
           (!is_set(chosen[0]) && !is_set(chosen[1]) &&
            try_toolkit(search, TEXT("/usr/local/cuda")) && tell_place(search, "the machine's"));
}

static char *find_toolkit_file(struct search *search, const struct toolkit_request *request)
{
    bool is_found = request->file || request->cuda_path
                        ? find_named_toolkit(search, request) &&
                              tell_place(search, request->file ? "named" : "--cuda-path")
                        : find_anywhere(search, request);

    return is_found ? memory_copy_string(search->found, strlen(search->found)) : NULL;
}

char *toolkit_find_ptxas(const struct toolkit_request *request, struct toolkit_search *trace)
{
    struct search search = {.folders = ptxas_folders,
                            .names = ptxas_names,
                            .is_it = program_path_is,
                            .shown = "/bin/ptxas",
                            .trace = trace};

    return find_toolkit_file(&search, request);
}

char *toolkit_find_nvjitlink(const struct toolkit_request *request, struct toolkit_search *trace)
{
    struct search search = {.folders = library_folders,
                            .names = library_names,
                            .is_it = request->is_library ? request->is_library : toolkit_is_file,
                            .shown = "",
                            .trace = trace};

    if (request->ptxas && !request->file && !request->cuda_path &&
        try_program(&search, request->ptxas) && tell_place(&search, "--ptxas"))
        return memory_copy_string(search.found, strlen(search.found));
    return find_toolkit_file(&search, request);
}

void toolkit_search_cleanup(void *trace)
{
    buffer_free(&((struct toolkit_search *)trace)->tried);
}

/* Looks for the line "Cuda compilation tools, release 13.5, V13.5.37" of ptxas.
 *
 * Measured on ptxas 11.8 to 13.5: the line stands as it is printed in .rodata, where finding it
 * takes a tenth of the time of running ptxas, and nothing else in front of it has these words. */
#define RELEASE "Cuda compilation tools, release "

/* Timeout in seconds for a ptxas that is asked; it answers within milliseconds. */
#define ANSWER_SECONDS 10

static struct toolkit_version version_in_bytes(struct bytes bytes)
{
    const char *line = bytes.size ? memmem(bytes.data, bytes.size, RELEASE, strlen(RELEASE)) : NULL;
    struct toolkit_version version = {0};
    struct text rest, listed;

    if (!line)
        return version;
    line += strlen(RELEASE);
    rest = (struct text){line, bytes.size - (size_t)(line - (const char *)bytes.data)};
    rest.size = strnlen(line, rest.size);
    version.number = toolkit_version_read(rest);
    listed = text_of(toolkits_find(version.number)->release);
    version.is_listed = text_starts(rest, listed) &&
                        (rest.size == listed.size || !text_is_digit(rest.data[listed.size]));
    return version;
}

/* What is missing for a moment says nothing about the file; other errors do: it cannot be read. */
static int error_of_want(int error)
{
    return error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN ? error : 0;
}

/* The contents of .rodata, or nothing. */
static struct bytes find_constants(struct bytes data)
{
    struct bytes contents = {0};
    struct elf_file file = {0};
    GElf_Shdr section;

    CONTEXT_DEFER(elf_file_close, &file);
    if (elf_file_open(&file, data) && elf_file_find_sections(&file))
        while (elf_file_next(&file, &section))
            if (elf_file_has_name(&file, &section, ".rodata") &&
                elf_file_contents(&file, &section, &contents))
                break;
    return contents;
}

static struct toolkit_version read_version_file(const char *path)
{
    struct bytes file = {0};

    if (!file_map(&file, path))
        return (struct toolkit_version){.error = error_of_want(errno)};
    CONTEXT_DEFER(descriptor_unmap, &file);
    return version_in_bytes(find_constants(file));
}

static struct toolkit_version ask_ptxas(const char *path)
{
    const char *const argv[] = {path, "--version", NULL};
    const struct exec_request request = {
        .argv = argv, .output_limit = 4096, .timeout = ANSWER_SECONDS};
    struct exec_result result;
    struct toolkit_version version;

    exec_run(&request, &result);
    version = version_in_bytes((struct bytes){(const uint8_t *)result.output, result.output_size});
    version.is_listed = false; /* a script may change what the ptxas that it runs writes */
    if (result.end == EXEC_NOT_STARTED)
        version.error = error_of_want(result.code);
    else if (result.output_cut && result.output_size < request.output_limit)
        version.error = ENOMEM;
    memory_cleanup(&result.output);
    return version;
}

struct toolkit_version toolkit_version_of(const char *path)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        char path[PATH_MAX];
        struct file_version file;
        struct toolkit_version version;
    } last;
    struct stat status;
    struct toolkit_version version = {0};

    if (stat(path, &status) != 0 || strlen(path) >= sizeof last.path)
        return version;
    pthread_mutex_lock(&lock);
    if (strcmp(last.path, path) == 0 && !file_version_change(&last.file, path))
        version = last.version;
    pthread_mutex_unlock(&lock);
    if (version.number)
        return version;
    version = read_version_file(path);
    if (version.number == 0 && !version.error)
        version = ask_ptxas(path);
    if (version.error)
        return version;
    pthread_mutex_lock(&lock);
    snprintf(last.path, sizeof last.path, "%s", path);
    last.file = file_version_of(&status);
    last.version = version;
    pthread_mutex_unlock(&lock);
    return version;
}

/* From a file in memory. */
void no_driver_load(void)
{
    int fd = descriptor_memory_file("minilink-no-driver");
    char path[32];

    if (fd < 0)
        return;
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (descriptor_write(fd, no_driver_image, no_driver_image_size))
        dlopen(path, RTLD_NOW | RTLD_LOCAL);
    close(fd);
}
