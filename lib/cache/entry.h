/* entry.h: the file format of a result: a header, whose numbers are little-endian, then the parts
 * one after the other. No byte is trusted until all have been checked. */
#pragma once

#include "base/text.h"
#include "cache/key.h"

#define ENTRY_PARTS       3u
#define ENTRY_HEADER_SIZE 128u
#define ENTRY_HASH_SIZE   16u

/* Largest result that is stored. */
#define ENTRY_LARGEST (UINT64_C(1) << 31)

struct entry_header {
    char magic[8]; /* "minilnkC" */
    uint32_t format;
    uint32_t part_count;
    struct cache_key key;
    uint64_t nanoseconds; /* that the making took */
    struct {
        uint64_t size;
        uint8_t hash[ENTRY_HASH_SIZE]; /* its XXH3-128 */
    } parts[ENTRY_PARTS];
    uint8_t hash[ENTRY_HASH_SIZE]; /* XXH3-128 of all that is before */
};

_Static_assert(sizeof(struct entry_header) == ENTRY_HEADER_SIZE, "it is written without padding");

/* A result. The meaning of its parts depends on the key; any of them may be empty. */
struct cache_value {
    struct bytes parts[ENTRY_PARTS];
    uint64_t nanoseconds; /* time that it took to make */
    void *owner;          /* memory of the parts, malloc'ed, when they come from the cache */
};

/* Sets the header of an entry with that value. False when the value is too large. */
bool entry_header(struct entry_header *header, const struct cache_key *key,
                  const struct cache_value *value);

/* Bytes of the entry with that value. */
uint64_t entry_size(const struct cache_value *value);

/* Whether a file of `size` bytes with this header is an entry of that key: not another format or
 * key, nor cut. */
bool entry_fits(const struct entry_header *header, uint64_t size, const struct cache_key *key);

/* Reads an entry whose header fits; `data` is all that follows that. The parts are views of it.
 * False when it is damaged. */
bool entry_read(struct cache_value *value, const struct entry_header *header, struct bytes data);
