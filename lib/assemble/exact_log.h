/* exact_log.h: what an assembler said about the chunks of an exact split, in the order in which it
 * says it of the program. */
#pragma once

#include "split/split.h"

/* Prints the logs of chunks that were all assembled, logs[0 .. chunks->count) (NULL = empty), as
 * log_replay() does. ptxas speaks of one kernel after the other, from the last of the text to the
 * first (measured on 13.0, -Xptxas=-v): so do these lines, whichever chunk a kernel is in. Nothing
 * is said about closing kernels, and once what each chunk says of the program as such. Raises
 * LINK_NO_MEMORY. */
void exact_log_replay(const struct chunks *chunks, const char *const *logs);
