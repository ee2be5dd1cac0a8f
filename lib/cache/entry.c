/* entry.c: a header that allows to check every byte. */
#include "cache/entry.h"

#include <xxhash.h>

#define MAGIC  "minilnkC"
#define FORMAT 1u

static void put_hash(uint8_t hash[ENTRY_HASH_SIZE], const void *data, size_t size)
{
    XXH128_canonical_t canonical;

    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
    memcpy(hash, canonical.digest, ENTRY_HASH_SIZE);
}

static bool has_hash(const uint8_t expected[ENTRY_HASH_SIZE], const void *data, size_t size)
{
    uint8_t hash[ENTRY_HASH_SIZE];

    put_hash(hash, data, size);
    return memcmp(expected, hash, ENTRY_HASH_SIZE) == 0;
}

uint64_t entry_size(const struct cache_value *value)
{
    uint64_t size = ENTRY_HEADER_SIZE;

    for (unsigned i = 0; i < ENTRY_PARTS; i++)
        size += value->parts[i].size;
    return size;
}

bool entry_header(struct entry_header *header, const struct cache_key *key,
                  const struct cache_value *value)
{
    *header = (struct entry_header){
        .format = FORMAT,
        .part_count = ENTRY_PARTS,
        .key = *key,
        .nanoseconds = value->nanoseconds,
    };
    memcpy(header->magic, MAGIC, sizeof header->magic);
    for (unsigned i = 0; i < ENTRY_PARTS; i++) {
        const struct bytes *part = &value->parts[i];

        if (part->size > ENTRY_LARGEST)
            return false;
        header->parts[i].size = part->size;
        put_hash(header->parts[i].hash, part->data, part->size);
    }
    put_hash(header->hash, header, offsetof(struct entry_header, hash));
    return entry_size(value) <= ENTRY_LARGEST;
}

bool entry_read(struct cache_value *value, struct bytes file, const struct cache_key *key)
{
    struct cache_value result = {0};
    struct entry_header header;
    uint64_t offset = sizeof header;

    if (file.size < sizeof header)
        return false;
    memcpy(&header, file.data, sizeof header);
    if (memcmp(header.magic, MAGIC, sizeof header.magic) != 0 || header.format != FORMAT ||
        header.part_count != ENTRY_PARTS || memcmp(&header.key, key, sizeof *key) != 0 ||
        !has_hash(header.hash, &header, offsetof(struct entry_header, hash)))
        return false;
    for (unsigned i = 0; i < ENTRY_PARTS; i++) {
        struct bytes *part = &result.parts[i];

        if (!bytes_slice(file, offset, header.parts[i].size, part) ||
            !has_hash(header.parts[i].hash, part->data, part->size))
            return false;
        offset += part->size;
    }
    result.nanoseconds = header.nanoseconds;
    *value = result;
    return offset == file.size;
}
