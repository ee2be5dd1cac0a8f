/* library.c: all paths are tried for a shared library before any is tried for an archive, as nvlink
 * does it. */
#include "input/library.h"

#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/context.h"
#include "diag/diag.h"

/* The first <folder>/<prefix><name><suffix> that is there and no folder, in `arena`; or NULL. */
static const char *find_library_file(struct arena *arena, const struct library_search *search,
                                     const char *prefix, const char *name, const char *suffix)
{
    struct buffer path = {0};
    struct stat status;

    CONTEXT_DEFER(buffer_cleanup, &path);
    for (size_t i = 0; i < search->count; i++) {
        path.size = 0;
        buffer_printf(&path, "%s/%s%s%s", search->paths[i], prefix, name, suffix);
        buffer_char(&path, '\0');
        if (stat(path.data, &status) == 0 && !S_ISDIR(status.st_mode))
            return arena_string(arena, text_of(path.data));
    }
    return NULL;
}

/* Libraries of the host's C and C++ runtime: users name them, too, and none has device code. */
static bool is_host_library(const char *name)
{
    static const char *const names[] = {"c",    "m",      "dl",  "rt",    "pthread",
                                        "util", "stdc++", "gcc", "gcc_s", "gomp"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The most paths that are listed for a missing library. */
#define MOST_TRIED 32u

static void report_missing(const char *name, const struct library_search *search)
{
    bool is_file_name = *name == ':';

    diag_error("Library file '%s' not found in paths", name);
    for (size_t i = 0; i < search->count && i < MOST_TRIED; i++)
        diag_note("tried '%s/%s%s%s'", search->paths[i], is_file_name ? "" : "lib",
                  is_file_name ? name + 1 : name, is_file_name ? "" : ".a");
    if (search->count > MOST_TRIED)
        diag_note("and in %zu more folders", search->count - MOST_TRIED);
    if (search->count == 0)
        diag_note("no library paths were given (-L)");
}

static bool is_missing_library(const char *name, const struct library_search *search)
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
                  const char **path)
{
    const char *shared;

    if (*name == ':') {
        *path = find_library_file(arena, search, "", name + 1, "");
        return *path || !is_missing_library(name, search);
    }
    *path = NULL;
    shared = find_library_file(arena, search, "lib", name, ".so");
    if (shared) {
        diag_verbose("Library '%s' is ignored: '%s' is a shared object, which has no code to link",
                     name, shared);
        return true;
    }
    *path = find_library_file(arena, search, "lib", name, ".a");
    return *path || !is_missing_library(name, search);
}
