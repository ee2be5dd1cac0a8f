/* log_replay.h: reports an assembler's messages about a chunk as messages about the user's file.
 *
 * diag/log_line.h lists the known forms of lines. Other lines are passed on unchanged, under the
 * chunk's name. */
#pragma once

#include <stdbool.h>

#include "split/split.h"

/* Prints a log (NUL-terminated lines, NULL = empty) through diag.h. `failed`: the chunk has no
 * cubin, so lines of unknown form are errors; else they are infos. */
void log_replay(const struct chunks *chunks, const struct chunk *chunk, const char *log,
                bool failed);

/* Prints the logs of an exact split's chunks, all of which were assembled: logs[0 .. chunks->count)
 * (NULL = empty). It prints them as log_replay() does, but in the order that the assembler has for
 * the whole program. ptxas reports one kernel after the other, from the last of the text to the
 * first (measured, -Xptxas=-v); so do these lines, whichever chunk a kernel is in. Messages about
 * closing kernels are left out, and those about the whole program are printed once. Raises
 * LINK_NO_MEMORY. */
void log_replay_exact(const struct chunks *chunks, const char *const *logs);
