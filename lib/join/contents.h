/* contents.h: contents that both ways to join rewrite, since they name symbols of a chunk. */
#pragma once

#include "base/buffer.h"
#include "cubin/cubin.h"

/* Appends a record of a chunk with the result's symbols: `joined` has them by the chunk's, 0 = not
 * in the result. An EXTERNS record loses the symbols for which `bound` is true; NULL: none. Appends
 * nothing and returns false if a symbol is lost, or no external one is left. */
bool contents_put_record(struct buffer *to, const struct info_record *record,
                         const struct cubin *cubin, const uint32_t *joined, const bool *bound);
