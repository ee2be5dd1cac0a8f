/* thin.h: archives that have only the names of their members (ar's option T), as Meson makes them.
 *
 * Such an archive is "!<thin>\n" and then the headers of an ordinary one, in which every name
 * stands in the table of long names, and no data behind them but that table's and the symbol
 * table's. A name is a path from the archive's folder, as in GNU ar and ld; nvlink 13.0 was
 * measured to take it from the working folder, and to fail elsewhere. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/text.h"
#include "input/watch.h"

/* Paths of members' files that were read. Start with {0}; `list` is malloc'ed, the paths live in
 * the arena. */
struct thin_files {
    const char **list;
    size_t count, capacity;
};

bool thin_is(struct bytes data);

/* Makes an ordinary archive, in `arena`, of the thin archive `data` in the file `path` and its
 * members' files, which are added to `files` and to `watch` (or NULL). False, reported, when it is
 * damaged or a member cannot be read. */
bool thin_gather(struct bytes *archive, struct arena *arena, struct thin_files *files,
                 const char *path, struct bytes data, struct watch *watch);
