/* log_line.h: parsing one line of an assembler's output.
 *
 * It parses ptxas's lines (measured):
 *     ptxas /dev/fd/3, line 8; error   : Unknown modifier '.globl'
 *     ptxas info    : (C7508) Potential Performance Loss: ...
 *         0 bytes stack frame, 0 bytes spill stores       (belongs to the line before it)
 * and those of the built-in assembler, with columns and the source line under them:
 *     8:5: error: unknown instruction 'foo'
 *         foo.b32 a, b;
 *         ^ */
#pragma once

#include "base/text.h"
#include "diag/diag.h"

struct log_line {
    enum diag_severity severity;
    uint32_t line;    /* of the chunk, from 1; 0 = about no line */
    uint32_t column;  /* from 1; 0 = unknown */
    struct text text; /* the message, a view of the line */
};

/* Parses one line, without its newline. False when it has no known form; *parsed is then a note
 * without a text. */
bool log_line_parse(struct text line, struct log_line *parsed);

/* Parses a line that begins with its severity: "error : text", "error: text" or "error (C1234):
 * text", whose number stays in the text. Sets severity and text. False if it has another form. */
bool log_line_parse_severity(struct text line, struct log_line *parsed);
