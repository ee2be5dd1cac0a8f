/* entry.c: a header that allows to check every byte. */
#include "cache/entry.h"

#include <xxhash.h>

#include "base/little.h"

/* The first bytes of an entry, without the NUL. */
#define MAGIC      "minilnkC"
#define MAGIC_SIZE (sizeof MAGIC - 1)

#define FORMAT 1u

enum { AT_FORMAT = 8, AT_COUNT = 12, AT_KEY = 16, AT_TIME = 32, AT_PARTS = 40, AT_CHECKSUM = 112 };
enum { PART_SIZE = 24, HASH_SIZE = 16 };

static void put_u32(uint8_t *at, uint32_t number)
{
    memcpy(at, &number, sizeof number);
}

static void put_u64(uint8_t *at, uint64_t number)
{
    memcpy(at, &number, sizeof number);
}

static void put_hash(uint8_t *at, struct bytes bytes)
{
    XXH128_canonical_t canonical;

    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data, bytes.size));
    memcpy(at, canonical.digest, HASH_SIZE);
}

static bool has_hash(const uint8_t *at, struct bytes bytes)
{
    uint8_t hash[HASH_SIZE];

    put_hash(hash, bytes);
    return memcmp(at, hash, HASH_SIZE) == 0;
}

uint64_t entry_size(const struct cache_value *value)
{
    uint64_t size = ENTRY_HEADER_SIZE;

    for (unsigned i = 0; i < ENTRY_PARTS; i++)
        size += value->parts[i].size;
    return size;
}

bool entry_header(uint8_t header[ENTRY_HEADER_SIZE], const struct cache_key *key,
                  const struct cache_value *value)
{
    memcpy(header, MAGIC, MAGIC_SIZE);
    put_u32(header + AT_FORMAT, FORMAT);
    put_u32(header + AT_COUNT, ENTRY_PARTS);
    memcpy(header + AT_KEY, key->bytes, CACHE_KEY_SIZE);
    put_u64(header + AT_TIME, value->nanoseconds);
    for (unsigned i = 0; i < ENTRY_PARTS; i++) {
        uint8_t *at = header + AT_PARTS + (size_t)i * PART_SIZE;

        if (value->parts[i].size > ENTRY_LARGEST)
            return false;
        put_u64(at, value->parts[i].size);
        put_hash(at + 8, value->parts[i]);
    }
    put_hash(header + AT_CHECKSUM, (struct bytes){header, AT_CHECKSUM});
    return entry_size(value) <= ENTRY_LARGEST;
}

bool entry_fits(const uint8_t header[ENTRY_HEADER_SIZE], uint64_t size, const struct cache_key *key)
{
    uint64_t rest = size - ENTRY_HEADER_SIZE;

    if (size < ENTRY_HEADER_SIZE || size > ENTRY_LARGEST ||
        memcmp(header, MAGIC, MAGIC_SIZE) != 0 || little_u32(header + AT_FORMAT) != FORMAT ||
        little_u32(header + AT_COUNT) != ENTRY_PARTS ||
        memcmp(header + AT_KEY, key->bytes, CACHE_KEY_SIZE) != 0 ||
        !has_hash(header + AT_CHECKSUM, (struct bytes){header, AT_CHECKSUM}))
        return false;
    for (unsigned i = 0; i < ENTRY_PARTS; i++) {
        uint64_t part = little_u64(header + AT_PARTS + (size_t)i * PART_SIZE);

        if (part > rest)
            return false;
        rest -= part;
    }
    return rest == 0;
}

bool entry_read(struct cache_value *value, struct bytes bytes, const struct cache_key *key)
{
    struct cache_value result = {0};
    uint64_t offset = ENTRY_HEADER_SIZE;

    if (bytes.size < ENTRY_HEADER_SIZE || !entry_fits(bytes.data, bytes.size, key))
        return false;
    result.nanoseconds = little_u64(bytes.data + AT_TIME);
    for (unsigned i = 0; i < ENTRY_PARTS; i++) {
        const uint8_t *at = bytes.data + AT_PARTS + (size_t)i * PART_SIZE;

        if (!bytes_slice(bytes, offset, little_u64(at), &result.parts[i]) ||
            !has_hash(at + 8, result.parts[i]))
            return false;
        offset += result.parts[i].size;
    }
    *value = result;
    return true;
}
