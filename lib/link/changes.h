/* changes.h: a link whose inputs or tools change while it runs fails, and leaves nothing.
 *
 * Inputs are watched as they are opened (input/watch.h), tools as they are found, before they are
 * hashed for a key or run. They are looked at again when all that is made of them has been written
 * and nothing has its name yet; a chunk or a part that was made of bytes in memory is kept at once,
 * when the tool that made it has not changed, and goes again when the link finds a change. */
#pragma once

#include <stdbool.h>

#include "link/state.h"

/* Lets the cache keep nothing that was made by, or of, what has changed since. */
void changes_guard_cache(struct link *link);

/* Watches the files of the assembler, which has just been opened. */
void changes_watch_assembler(const struct link *link, const struct assembler *assembler);

/* Watches libnvJitLink, which has just been found, and the program that runs it in a child. */
void changes_watch_library(const struct link *link);

/* True when nothing has changed. Else that is reported, the link has failed for its environment,
 * and what it has kept is gone. */
bool changes_check(const struct link *link);
