/* library.c: all paths are tried for a shared library before any is tried for an archive, as nvlink
 * does it. */
#include "input/library.h"

#include <string.h>

#include "diag/diag.h"

/* The first <path>/<prefix><name><suffix> that is there, or NULL. A directory of that name is none.
 */
static const char *find(struct arena *arena, const struct library_search *search,
                        struct library_folders *folders, const char *prefix, const char *name,
                        const char *suffix)
{
    const char *file = arena_printf(arena, "%s%s%s", prefix, name, suffix);

    return library_folders_find(folders, arena, search->paths, search->count, file);
}

/* Libraries of the host's C and C++ run time, which people name, too; none has device code. */
static bool is_host_library(const char *name)
{
    static const char *const names[] = {"c",    "m",      "dl",  "rt",    "pthread",
                                        "util", "stdc++", "gcc", "gcc_s", "gomp"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Most paths that are named where a library is missing. */
#define MOST_TRIED 32u

static void report_missing(const char *name, const struct library_search *search)
{
    bool is_exact = *name == ':';

    diag_error("Library file '%s' not found in paths", name);
    for (size_t i = 0; i < search->count && i < MOST_TRIED; i++)
        diag_note("tried '%s/%s%s%s'", search->paths[i], is_exact ? "" : "lib",
                  is_exact ? name + 1 : name, is_exact ? "" : ".a");
    if (search->count > MOST_TRIED)
        diag_note("and in %zu more folders", search->count - MOST_TRIED);
    if (search->count == 0)
        diag_note("no library paths were given (-L)");
}

static bool is_missing(const char *name, const struct library_search *search)
{
    if (!search->from_compiler && !is_host_library(name)) {
        report_missing(name, search);
        return true;
    }
    diag_verbose("Library '%s' is ignored: it is not in the library paths, as libraries of the "
                 "host are, which have no code to link",
                 name);
    return false;
}

bool library_find(struct arena *arena, const char *name, const struct library_search *search,
                  struct library_folders *folders, const char **path)
{
    const char *shared;

    if (*name == ':') {
        *path = find(arena, search, folders, "", name + 1, "");
        return *path || !is_missing(name, search);
    }
    *path = NULL;
    shared = find(arena, search, folders, "lib", name, ".so");
    if (shared) {
        diag_verbose("Library '%s' is ignored: '%s' is a shared object, which has no code to link",
                     name, shared);
        return true;
    }
    *path = find(arena, search, folders, "lib", name, ".a");
    return *path || !is_missing(name, search);
}
