/* library.h: from -lNAME to a file.
 *
 * Measured on nvlink 13.0: it looks for lib<NAME>.so in every path, then for lib<NAME>.a in every
 * path; a shared object that is found is passed over, as it has no code to link, and so is a
 * library that is not found: nvcc hands it all libraries of the program, and those of the host
 * stand in folders that only the host's linker knows. minilink does the same where nvcc made the
 * command line; where a person did, a missing library is an error. -l:FILE, which nvlink does not
 * know, is the exact file, as in GNU ld. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct library_search {
    const char *const *paths; /* folders: -L, then LIBRARY_PATH */
    size_t count;
    bool from_compiler; /* nvcc made the command line: libraries of the host are among it */
};

/* Looks for what stands behind -l. *path is the file, in `arena`, or NULL for a library that is
 * passed over, which an info says under -vv. False, and an error with the paths tried, when it must
 * be there and is not. */
bool library_find(struct arena *arena, const char *name, const struct library_search *search,
                  const char **path);
