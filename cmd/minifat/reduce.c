/* reduce.c: dropping comments and blanks from PTX.
 *
 * The rules were measured on fatbinary 13.0 by comparing its output with this one's on random
 * texts:
 * - a line ends with \n, \r, \f or \v; a line comment ends before \n or \r only;
 * - the beginning of the file is not the start of a line, nor is what follows a comment;
 * - a comment interrupts a run of blanks: one blank stays on each side of it;
 * - "/" "*" "/" is a whole comment;
 * - a quote opens or closes a string unless the character before it is a backslash. */
#include "reduce.h"

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* Offset behind the string that opens at `at`. */
static size_t string_end(struct text ptx, size_t at)
{
    for (at++; at < ptx.size; at++)
        if (ptx.data[at] == '"' && ptx.data[at - 1] != '\\')
            return at + 1;
    return ptx.size;
}

/* Offset behind the comment that begins at `at`, or `at` when none does. */
static size_t comment_end(struct text ptx, size_t at)
{
    if (ptx.size - at < 2 || ptx.data[at] != '/')
        return at;
    if (ptx.data[at + 1] == '/') {
        while (at < ptx.size && ptx.data[at] != '\n' && ptx.data[at] != '\r')
            at++;
    } else if (ptx.data[at + 1] == '*') {
        for (at += 2; at < ptx.size; at++)
            if (ptx.data[at] == '/' && ptx.data[at - 1] == '*')
                return at + 1;
    }
    return at;
}

void reduce_ptx(struct text ptx, struct buffer *reduced)
{
    bool drop_blanks = false; /* at the start of a line, or in a run of blanks */
    size_t at = 0;

    buffer_reserve(reduced, ptx.size);
    while (at < ptx.size) {
        char c = ptx.data[at];
        size_t end = comment_end(ptx, at);

        if (end > at) {
            drop_blanks = false;
        } else if (c == '"' && (at == 0 || ptx.data[at - 1] != '\\')) {
            end = string_end(ptx, at);
            buffer_append(reduced, ptx.data + at, end - at);
            drop_blanks = false;
        } else {
            bool is_blank = c == ' ' || c == '\t';

            end = at + 1;
            if (!is_blank || !drop_blanks)
                buffer_char(reduced, c);
            drop_blanks = is_blank || is_line_end(c);
        }
        at = end;
    }
}
