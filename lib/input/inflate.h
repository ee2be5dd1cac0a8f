/* inflate.h: decompressing fatbin payloads, with limits against hostile ones. */
#pragma once

#include "base/memory.h"
#include "base/text.h"
#include "input/fatbin.h"

/* No real payload comes near: guards against decompression bombs. */
#define INFLATE_MAXIMUM (UINT64_C(1) << 30)

/* A limit for several entries together: thousands of small ones can fill memory, too. */
struct inflation {
    uint64_t limit;     /* bytes; 0 = none */
    uint64_t used;      /* bytes that the entries so far have decompressed to */
    const char *option; /* that sets the limit, for messages */
};

/* Sets *code to the entry's payload, or its part of one, as it was before compression: a view of
 * the container when it is stored, else bytes in `arena`. The whole payload's are counted in
 * `inflation`. `name` is the member, for messages. False, and an error, when the stated size
 * exceeds INFLATE_MAXIMUM or what the limit leaves, or the payload is damaged, scrambled, or gives
 * another size. */
bool inflate_entry(const struct fatbin_entry *entry, const char *name, struct inflation *inflation,
                   struct arena *arena, struct bytes *code);

/* The first bytes of an entry's code, at most `size` of them, without inflating what follows.
 * Returns how many were written to `head`; 0 when the payload is opaque or damaged, or the entry a
 * part that is further into a payload than real ones are, which is not reported. */
size_t inflate_head(const struct fatbin_entry *entry, uint8_t *head, size_t size);
