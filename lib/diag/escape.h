/* escape.h: text from inputs as it may be shown on a terminal.
 *
 * Names come from foreign files and may hold anything: escape sequences that recolour or rewrite
 * what a terminal shows, line ends that forge messages. Shown are printable ASCII, tabs, and UTF-8
 * but for its control characters (U+0080 to U+009F) and those that break or reorder lines (U+2028
 * to U+202E, U+2066 to U+2069); a newline becomes `\n`, a carriage return `\r`, and every other
 * byte `\x1b` and the like. */
#pragma once

#include "base/memory.h"

/* The bytes of the first character of `text`, which has one; 0 if it is not shown as it is. */
size_t escape_character(struct text text);

/* True when all of `text` is shown as it is. */
bool escape_is_plain(struct text text);

/* True when all of `text` is UTF-8, shown or not. */
bool escape_is_utf8(struct text text);

/* Appends what is shown of `text`. */
void escape_text(struct text text, struct buffer *out);

/* The same for a text of many lines, whose ends stay as they are. */
void escape_lines(struct text text, struct buffer *out);

/* printf of a line, or of a piece of one, whose arguments may be such texts: only a newline at the
 * end of `format` ends the line. */
void escape_printf(struct buffer *out, const char *format, ...) PRINTF(2, 3);
void escape_vprintf(struct buffer *out, const char *format, va_list arguments) PRINTF(2, 0);
