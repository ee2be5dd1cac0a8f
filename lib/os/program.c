/* program.c: walks along PATH; finds minilink, from within it and from the library elsewhere. */
#include "os/program.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "os/internal.h"

bool program_path_is(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool program_path_next(const char **list, struct text *folder)
{
    const char *at = *list;
    size_t size = at ? strcspn(at, ":") : 0;

    if (!at)
        return false;
    *folder = size ? (struct text){at, size} : TEXT(".");
    *list = at[size] ? at + size + 1 : NULL;
    return true;
}

bool program_path_find(const char *name, char *path)
{
    const char *list = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    for (struct text folder; *name && program_path_next(&list, &folder);)
        if (snprintf(path, PATH_MAX, "%.*s/%s", TEXT_ARG(folder), name) < PATH_MAX &&
            program_path_is(path))
            return true;
    return false;
}

char *program_path_try(bool (*is_wanted)(const char *path), const char *format, ...)
{
    LOCAL_BUFFER(path);
    va_list arguments;

    va_start(arguments, format);
    buffer_vprintf(&path, format, arguments);
    va_end(arguments);
    return is_wanted(path.data) ? buffer_take(&path, NULL) : NULL;
}

/* How many folders above the library are searched: lib/TRIPLET/minilink/nvjitlink has four. */
#define MOST_LEVELS 5

/* The file that this process runs, even after it was replaced. */
#define OWN_LINK "/proc/self/exe"

static atomic_bool is_own;

void self_exec_set_program(void)
{
    atomic_store(&is_own, true);
}

bool self_exec_is_program(void)
{
    return atomic_load(&is_own);
}

/* The path of the shared object that this code is in; NULL where that is the program itself. */
static const char *own_library(void)
{
    static const char here;
    struct link_map *map = NULL;
    Dl_info info;

    if (!dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !*map->l_name)
        return NULL;
    return map->l_name;
}

static bool find_above(char *path, const char *library)
{
    static const char *const places[] = {"minilink", "bin/minilink"};
    char *folder = realpath(library, NULL), *slash;
    bool is_found = false;

    for (int level = 0; folder && level < MOST_LEVELS && !is_found; level++) {
        slash = strrchr(folder, '/');
        if (!slash)
            break;
        *slash = '\0';
        for (size_t i = 0; i < sizeof places / sizeof *places && !is_found; i++)
            is_found = snprintf(path, PATH_MAX, "%s/%s", folder, places[i]) < PATH_MAX &&
                       program_path_is(path);
    }
    free(folder);
    return is_found;
}

static const char *find_program(char *path)
{
    static const char name[] = "minilink";
    const char *library = own_library();

    if (!(library && find_above(path, library)) && !program_path_find(name, path))
        memcpy(path, name, sizeof name);
    return path;
}

/* Avoids /proc/self/exe where possible: under valgrind it is valgrind. */
const char *self_exec_path(char *path)
{
    ssize_t size;

    if (!atomic_load(&is_own))
        return find_program(path);
    size = readlink(OWN_LINK, path, PATH_MAX - 1);
    if (size > 0)
        path[size] = '\0';
    if (size <= 0 || access(path, X_OK) != 0)
        memcpy(path, OWN_LINK, sizeof OWN_LINK);
    return path;
}

const char *self_exec_file(char *path)
{
    const char *program = self_exec_path(path);
    struct stat found, own;

    if (!atomic_load(&is_own))
        return program;
    if (stat(program, &found) == 0 && stat(OWN_LINK, &own) == 0 && found.st_dev == own.st_dev &&
        found.st_ino == own.st_ino)
        return OWN_LINK;
    /* The program was replaced since, which is seen now; or the link leads to valgrind. */
    return self_exec_path(path);
}

const char *self_exec_code_path(void)
{
    const char *library = own_library();

    return library ? library : OWN_LINK;
}

void self_exec_fix_addresses(char *const *argv)
{
    if (exec_fix_addresses() >= 0)
        execv(OWN_LINK, argv);
}
