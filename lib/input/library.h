/* library.h: from -lNAME to a file.
 *
 * Measured on nvlink: it looks for lib<NAME>.so in every path, then for lib<NAME>.a in every path;
 * it ignores a shared object, which has no code to link, and a library that is not found: nvcc
 * passes it all libraries of the program, and the host's are in folders that only the host's linker
 * knows. minilink does the same if nvcc made the command line; otherwise a missing library is an
 * error. -l:FILE, which nvlink does not know, is the exact file, as in GNU ld. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct library_search {
    const char *const *paths; /* folders: -L, then LIBRARY_PATH */
    size_t count;
    bool from_compiler; /* nvcc made the command line, which names libraries of the host, too */
};

/* Finds the library NAME of -lNAME. *path is the file, in `arena`, or NULL for a library that is
 * ignored, with an info under -vv. False, and an error with the paths tried, when a library is
 * missing that must not be. */
bool library_find(struct arena *arena, const char *name, const struct library_search *search,
                  const char **path);
