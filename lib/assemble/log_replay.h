/* log_replay.h: what an assembler said about a chunk, said again about the file that the user
 * knows.
 *
 * diag/log_line.h lists the forms of lines that are understood.
 * What is in no known form is passed on as it is under the chunk's name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "diag/diag.h"
#include "split/split.h"

/* Prints a log (NUL-terminated lines, NULL = empty) through diag.h. `failed`: the chunk has no
 * cubin, so that lines in no known form are errors; else they are infos. */
void log_replay(const struct chunks *chunks, const struct chunk *chunk, const char *log,
                bool failed);

/* Prints the logs of an exact split's chunks that were all assembled, logs[0 .. chunks->count)
 * (NULL = empty), as log_replay() does, but in the order in which the assembler speaks of the
 * program. ptxas speaks of one kernel after the other, from the last of the text to the first
 * (measured on 13.0, -Xptxas=-v): so do these lines, whichever chunk a kernel is in. Nothing is
 * said about closing kernels, and once what each chunk says of the program as such. Raises
 * LINK_NO_MEMORY. */
void log_replay_exact(const struct chunks *chunks, const char *const *logs);
