/* replay.h: what an assembler said about a chunk, said again about the file that the user knows.
 *
 * Understood are ptxas's lines (measured on ptxas 13.0):
 *     ptxas /dev/fd/3, line 8; error   : Unknown modifier '.globl'
 *     ptxas info    : (C7508) Potential Performance Loss: ...
 *         0 bytes stack frame, 0 bytes spill stores       (belongs to the line before it)
 * and those of the built-in assembler, with columns and the source line under them:
 *     8:5: error: unknown instruction 'foo'
 *         foo.b32 a, b;
 *         ^
 * What is in no known form is passed on as it is under the chunk's name. */
#ifndef MINILINK_ASSEMBLE_REPLAY_H
#define MINILINK_ASSEMBLE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/text.h"
#include "split/split.h"

/* One line of a log. */
struct replay_message {
    enum diag_severity severity;
    uint32_t line;    /* of the chunk, from 1; 0 = about no line */
    uint32_t column;  /* from 1; 0 = unknown */
    struct text text; /* a view of the line */
};

/* Reads one line, without its newline. False when it is in no known form. */
bool replay_parse(struct text line, struct replay_message *message);

/* Prints a log (NUL-terminated lines, NULL = empty) through diag.h. `failed`: the chunk has no
 * cubin, so that lines in no known form are errors; else they are infos. */
void replay_log(const struct chunks *chunks, const struct chunk *chunk, const char *log,
                bool failed);

#endif
