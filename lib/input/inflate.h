/* inflate.h: fatbin payloads, by liblz4 and libzstd. */
#ifndef MINILINK_INPUT_INFLATE_H
#define MINILINK_INPUT_INFLATE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/text.h"
#include "input/fatbin.h"

/* No real payload comes near: guards against decompression bombs. */
#define INFLATE_MAXIMUM (UINT64_C(1) << 30)

/* Sets *code to the entry's payload as it was before compression: a view of the container when it
 * is stored, else bytes in `arena`. `name` is the member, for messages. False, and an error, when
 * the stated size exceeds INFLATE_MAXIMUM, the payload is damaged, scrambled, or gives another
 * size. */
bool inflate_entry(const struct fatbin_entry *entry, const char *name, struct arena *arena,
                   struct bytes *code);

/* The first bytes of an entry's code, at most `size` of them, without inflating the rest. Returns
 * how many were written to `head`; 0 when the payload is opaque or damaged, which is not reported.
 */
size_t inflate_head(const struct fatbin_entry *entry, uint8_t *head, size_t size);

#endif
