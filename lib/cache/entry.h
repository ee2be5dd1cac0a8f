/* entry.h: the file that a result is kept in.
 *
 * 128 bytes of header, numbers little-endian, and the parts one after the other:
 *
 *       0  "minilnkC"
 *       8  number of the format, 4 bytes; number of parts, 4 bytes
 *      16  the key
 *      32  nanoseconds that the making took
 *      40  for each of the three parts: its size, 8 bytes; its XXH3-128, 16 bytes
 *     112  XXH3-128 of the 112 bytes before
 *
 * No byte of it is believed before all have been checked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "cache/key.h"

#define ENTRY_PARTS       3u
#define ENTRY_HEADER_SIZE 128u

/* Larger results are not kept. */
#define ENTRY_LARGEST (UINT64_C(1) << 31)

/* A result. What the parts are is known to who made the key; all of them may be empty. */
struct cache_value {
    struct bytes parts[ENTRY_PARTS];
    uint64_t nanoseconds; /* that the making took */
    void *owner;          /* what the parts lie in, malloc'ed, when they come from the cache */
};

/* Writes the header of an entry with that value. False when it is too large. */
bool entry_header(uint8_t header[ENTRY_HEADER_SIZE], const struct cache_key *key,
                  const struct cache_value *value);

/* Bytes of the entry with that value. */
uint64_t entry_size(const struct cache_value *value);

/* Whether a file of `size` bytes may be an entry of that key, by its header alone. */
bool entry_fits(const uint8_t header[ENTRY_HEADER_SIZE], uint64_t size,
                const struct cache_key *key);

/* Reads an entry, whose bytes may be anything. The parts are views into `bytes`. False when it is
 * no entry, one of another format or key, or damaged. */
bool entry_read(struct cache_value *value, struct bytes bytes, const struct cache_key *key);
