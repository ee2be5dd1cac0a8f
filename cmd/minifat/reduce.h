/* reduce.h: what fatbinary drops of a PTX text before it packs it: comments and needless blanks. */
#pragma once

#include "base/buffer.h"
#include "base/text.h"

/* Appends `ptx` without comments and needless blanks, as fatbinary 13.0 does it: comments vanish, a
 * run of blanks and tabs is cut to its first character, or to nothing at the start of a line; line
 * ends and strings stay. No NUL is added. */
void reduce_ptx(struct text ptx, struct buffer *reduced);
