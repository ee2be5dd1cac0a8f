/* inflate.c: LZ4 blocks and zstd frames back to code.
 *
 * fatbinary 13.0 writes three forms: stored, an LZ4 block without frame, a zstd frame. The stated
 * size comes from a foreign file, so it is checked before memory is allocated, against the most
 * that the compressed bytes can give, and afterwards, against what they gave. */
#include "input/inflate.h"

#include <limits.h>
#include <lz4.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/context.h"
#include "diag/diag.h"

/* A match length grows by at most 255 per byte of an LZ4 block (LZ4 block format). */
#define LZ4_RATIO 255u

/* A zstd block holds at most 128 KiB and takes at least 4 bytes (RFC 8878, 3.1.1.2). */
#define ZSTD_BLOCK       (UINT64_C(128) << 10)
#define ZSTD_BLOCK_BYTES 4u

/* LTO-IR in compressed form can only be read by NVIDIA's libraries. */
static bool is_opaque(const struct fatbin_entry *entry)
{
    return (entry->flags & FATBIN_SCRAMBLED) ||
           (entry->kind == FATBIN_NVVM && (entry->flags & (FATBIN_LZ4 | FATBIN_ZSTD)));
}

/* The most bytes that the payload can decompress to. */
static uint64_t largest_result(const struct fatbin_entry *entry)
{
    uint64_t stored = entry->payload.size;
    unsigned long long content;

    if (entry->flags & FATBIN_LZ4)
        return stored * LZ4_RATIO;
    content = ZSTD_getFrameContentSize(entry->payload.data, entry->payload.size);
    if (content != ZSTD_CONTENTSIZE_UNKNOWN && content != ZSTD_CONTENTSIZE_ERROR)
        return content;
    return (stored / ZSTD_BLOCK_BYTES + 1) * ZSTD_BLOCK;
}

static bool check_size(const struct fatbin_entry *entry, const char *name)
{
    if (entry->uncompressed_size > INFLATE_MAXIMUM || entry->payload.size > INT_MAX)
        return diag_error(
            "Uncompress failed for '%s': its stated size is %llu bytes, the limit is %llu", name,
            (unsigned long long)entry->uncompressed_size, (unsigned long long)INFLATE_MAXIMUM);
    if (entry->uncompressed_size > largest_result(entry))
        return diag_error("Uncompress failed for '%s': its stated size is %llu bytes, but its %zu "
                          "compressed bytes hold at most %llu",
                          name, (unsigned long long)entry->uncompressed_size, entry->payload.size,
                          (unsigned long long)largest_result(entry));
    return true;
}

static bool check_result(const struct fatbin_entry *entry, const char *name, const char *what,
                         size_t size)
{
    if (size != entry->uncompressed_size)
        diag_error("Uncompress failed for '%s': the %s gives %zu bytes, expected %llu", name, what,
                   size, (unsigned long long)entry->uncompressed_size);
    return size == entry->uncompressed_size;
}

static bool inflate_lz4(const struct fatbin_entry *entry, const char *name, uint8_t *target)
{
    int size = LZ4_decompress_safe((const char *)entry->payload.data, (char *)target,
                                   (int)entry->payload.size, (int)entry->uncompressed_size);

    if (size >= 0)
        return check_result(entry, name, "LZ4 block", (size_t)size);
    return diag_error("Uncompress failed for '%s': the LZ4 block is damaged near byte %d of %zu",
                      name, -size, entry->payload.size);
}

static bool inflate_zstd(const struct fatbin_entry *entry, const char *name, uint8_t *target)
{
    size_t size = ZSTD_decompress(target, (size_t)entry->uncompressed_size, entry->payload.data,
                                  entry->payload.size);

    if (!ZSTD_isError(size))
        return check_result(entry, name, "zstd frame", size);
    if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation)
        context_raise(LINK_NO_MEMORY);
    return diag_error("Uncompress failed for '%s': the zstd frame is damaged: %s", name,
                      ZSTD_getErrorName(size));
}

/* Counts the entry before memory is allocated. A view is not counted. */
static bool take(struct inflation *inflation, const struct fatbin_entry *entry, const char *name)
{
    if (inflation->limit && entry->uncompressed_size > inflation->limit - inflation->used)
        return diag_error("Uncompress failed for '%s': with its %llu bytes more than %llu would be "
                          "decompressed in all, which is the limit; %s moves it",
                          name, (unsigned long long)entry->uncompressed_size,
                          (unsigned long long)inflation->limit, inflation->option);
    inflation->used += entry->uncompressed_size;
    return true;
}

bool inflate_entry(const struct fatbin_entry *entry, const char *name, struct inflation *inflation,
                   struct arena *arena, struct bytes *code)
{
    uint8_t *target;

    if (is_opaque(entry))
        return diag_error(
            "Uncompress failed for '%s': it is LTO-IR that only NVIDIA's libraries read", name);
    if (!(entry->flags & (FATBIN_LZ4 | FATBIN_ZSTD))) {
        *code = entry->payload;
        return true;
    }
    if (!check_size(entry, name) || !take(inflation, entry, name))
        return false;
    target = arena_alloc(arena, (size_t)entry->uncompressed_size, 1);
    if (!(entry->flags & FATBIN_LZ4 ? inflate_lz4 : inflate_zstd)(entry, name, target))
        return false;
    *code = (struct bytes){target, (size_t)entry->uncompressed_size};
    return true;
}

static size_t zstd_head(const struct fatbin_entry *entry, uint8_t *head, size_t size)
{
    ZSTD_inBuffer input = {entry->payload.data, entry->payload.size, 0};
    ZSTD_outBuffer output = {head, size, 0};
    ZSTD_DStream *stream = ZSTD_createDStream();
    size_t state = 1;

    if (!stream)
        context_raise(LINK_NO_MEMORY);
    while (output.pos < output.size && state != 0 && !ZSTD_isError(state)) {
        size_t before = input.pos + output.pos;

        state = ZSTD_decompressStream(stream, &output, &input);
        if (input.pos + output.pos == before)
            break;
    }
    ZSTD_freeDStream(stream);
    if (ZSTD_getErrorCode(state) == ZSTD_error_memory_allocation)
        context_raise(LINK_NO_MEMORY);
    return output.pos;
}

size_t inflate_head(const struct fatbin_entry *entry, uint8_t *head, size_t size)
{
    int written;

    if (is_opaque(entry) || entry->payload.size > INT_MAX || size > INT_MAX)
        return 0;
    if (entry->flags & FATBIN_ZSTD)
        return zstd_head(entry, head, size);
    if (entry->flags & FATBIN_LZ4) {
        written = LZ4_decompress_safe_partial((const char *)entry->payload.data, (char *)head,
                                              (int)entry->payload.size, (int)size, (int)size);
        return written < 0 ? 0 : (size_t)written;
    }
    if (size > entry->payload.size)
        size = entry->payload.size;
    if (size)
        memcpy(head, entry->payload.data, size);
    return size;
}
