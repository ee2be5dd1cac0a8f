/* text_scan.h: lines and numbers off the front of a text. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Takes the first line, without its line feed, off *text. False when nothing is left. */
bool text_scan_line(struct text *text, struct text *line);

/* Takes the decimal digits off the front of *text. A number too large for 64 bits is UINT64_MAX.
 * False when there are none. */
bool text_scan_number(struct text *text, uint64_t *number);
