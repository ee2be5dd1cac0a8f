/* fuzz_entry.c: an entry of the cache. The first byte says what is mended before it is read, since
 * no fuzzer finds a checksum: 1 the header's, 2 those of the parts as well. */
#include <stddef.h>
#include <xxhash.h>

#include "cache/internal.h"
#include "fuzz.h"

static void mend(uint8_t *at, const uint8_t *data, size_t size)
{
    XXH128_canonical_t canonical;

    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
    memcpy(at, canonical.digest, sizeof canonical.digest);
}

static void mend_parts(struct entry_header *header, const uint8_t *entry, size_t size)
{
    size_t at = ENTRY_HEADER_SIZE;

    for (unsigned i = 0; i < CACHE_PARTS; i++) {
        const uint64_t length = header->parts[i].size;

        if (length > size - at)
            return;
        mend(header->parts[i].hash, entry + at, (size_t)length);
        at += (size_t)length;
    }
}

/* What has been read is the whole entry, and would be written as it is. */
static void check(const uint8_t *entry, size_t size, const struct cache_key *key,
                  const struct cache_value *value)
{
    const uint8_t *at = entry + ENTRY_HEADER_SIZE;
    struct entry_header header;

    for (unsigned i = 0; i < CACHE_PARTS; i++) {
        if (value->parts[i].data != at || value->parts[i].size > (size_t)(entry + size - at))
            abort();
        at += value->parts[i].size;
    }
    if (at != entry + size || entry_size(value) != size || !entry_header(&header, key, value) ||
        memcmp(&header, entry, sizeof header) != 0)
        abort();
}

static bool read_entry(struct cache_value *value, struct bytes entry, const struct cache_key *key)
{
    struct entry_header header;

    if (entry.size < sizeof header)
        return false;
    memcpy(&header, entry.data, sizeof header);
    return entry_fits(&header, entry.size, key) &&
           entry_read(value, &header,
                      (struct bytes){entry.data + sizeof header, entry.size - sizeof header});
}

static void fuzz(struct bytes rest)
{
    uint8_t mended = fuzz_byte(&rest);
    uint8_t *entry = fuzz_copy(rest);
    struct cache_key key = {{0}}, other;
    struct entry_header header;
    struct cache_value value;

    if (rest.size >= sizeof header) {
        memcpy(&header, entry, sizeof header);
        key = header.key;
        if (mended & 2)
            mend_parts(&header, entry, rest.size);
        if (mended & 3)
            mend(header.hash, (const uint8_t *)&header, offsetof(struct entry_header, hash));
        memcpy(entry, &header, sizeof header);
    }
    if (read_entry(&value, (struct bytes){entry, rest.size}, &key))
        check(entry, rest.size, &key, &value);
    other = key;
    other.bytes[0] ^= 1;
    if (read_entry(&value, (struct bytes){entry, rest.size}, &other))
        abort();
}
