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

/* "builtin: note: text" without the name in front; any other line as it is. */
struct text log_replay_drop_program(struct text line);
