/* entry.h: the file format of a result.
 *
 * A header of 128 bytes, numbers little-endian, then the parts one after the other:
 *
 *       0  "minilnkC"
 *       8  number of the format, 4 bytes; number of parts, 4 bytes
 *      16  the key
 *      32  nanoseconds that the making took
 *      40  for each of the three parts: its size, 8 bytes; its XXH3-128, 16 bytes
 *     112  XXH3-128 of the 112 bytes before
 *
 * No byte is trusted until all have been checked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "cache/key.h"

#define ENTRY_PARTS       3u
#define ENTRY_HEADER_SIZE 128u

/* Largest result that is stored. */
#define ENTRY_LARGEST (UINT64_C(1) << 31)

/* A result. The meaning of its parts depends on the key; any of them may be empty. */
struct cache_value {
    struct bytes parts[ENTRY_PARTS];
    uint64_t nanoseconds; /* time that it took to make */
    void *owner;          /* memory of the parts, malloc'ed, when they come from the cache */
};

/* Writes the header of an entry with that value. False when the value is too large. */
bool entry_header(uint8_t header[ENTRY_HEADER_SIZE], const struct cache_key *key,
                  const struct cache_value *value);

/* Bytes of the entry with that value. */
uint64_t entry_size(const struct cache_value *value);

/* Whether a file of `size` bytes can be an entry of that key, judged by its header alone. */
bool entry_fits(const uint8_t header[ENTRY_HEADER_SIZE], uint64_t size,
                const struct cache_key *key);

/* Reads an entry, whose bytes may be arbitrary. The parts are views into `bytes`. False when it is
 * not an entry, has another format or key, or is damaged. */
bool entry_read(struct cache_value *value, struct bytes bytes, const struct cache_key *key);
