/* inflate.c: LZ4 blocks and zstd frames back to code.
 *
 * fatbinary writes three forms: stored, an LZ4 block without frame, a zstd frame. The stated size
 * comes from a foreign file, so it is checked before memory is allocated, against the most that the
 * compressed bytes can give, and afterwards, against what they gave. */
#include "input/fatbin.h"

#include <limits.h>
#include <lz4.h>
#include <zstd.h>
#include <zstd_errors.h>

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

/* How far into a payload a head is looked for. */
#define HEAD_RATIO 64u
#define HEAD_FLOOR (1u << 17)

static bool check_inflated_size(const struct fatbin_entry *entry, const char *name)
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
static bool take_bytes_of(struct inflation *inflation, const struct fatbin_entry *entry,
                          const char *name)
{
    if (inflation->limit && entry->uncompressed_size > inflation->limit - inflation->used)
        return diag_error("Uncompress failed for '%s': with its %llu bytes more than %llu would be "
                          "decompressed in all, which is the limit; %s moves it",
                          name, (unsigned long long)entry->uncompressed_size,
                          (unsigned long long)inflation->limit, inflation->option);
    inflation->used += entry->uncompressed_size;
    return true;
}

/* The first `size` bytes of the uncompressed payload; returns how many were written. */
static size_t inflate_beginning(const struct fatbin_entry *entry, uint8_t *target, size_t size)
{
    ZSTD_inBuffer input = {entry->payload.data, entry->payload.size, 0};
    ZSTD_outBuffer output = {target, size, 0};
    ZSTD_DStream *stream;
    size_t state = 1, before;
    int written;

    if (entry->flags & FATBIN_LZ4) {
        written = LZ4_decompress_safe_partial((const char *)input.src, (char *)target,
                                              (int)input.size, (int)size, (int)size);
        return written < 0 ? 0 : (size_t)written;
    }
    stream = ZSTD_createDStream();
    if (!stream)
        context_raise(LINK_NO_MEMORY);
    do {
        before = input.pos + output.pos;
        state = ZSTD_decompressStream(stream, &output, &input);
    } while (output.pos < size && state != 0 && !ZSTD_isError(state) &&
             input.pos + output.pos > before);
    ZSTD_freeDStream(stream);
    if (ZSTD_getErrorCode(state) == ZSTD_error_memory_allocation)
        context_raise(LINK_NO_MEMORY);
    return output.pos;
}

/* The same for those from `at` on. */
static size_t inflate_range(const struct fatbin_entry *entry, size_t at, uint8_t *target,
                            size_t size)
{
    uint8_t *before = NULL;
    size_t written;

    CONTEXT_DEFER(memory_cleanup, &before);
    before = memory_alloc(at + size, 1);
    written = inflate_beginning(entry, before, at + size);
    if (written <= at)
        return 0;
    memcpy(target, before + at, written - at);
    return written - at;
}

static bool inflate_entry_part(const struct fatbin_entry *entry, const char *name, uint8_t *target)
{
    return inflate_range(entry, entry->part_offset, target, entry->part_size) == entry->part_size ||
           diag_error("Uncompress failed for '%s': its %zu bytes at %zu of the uncompressed "
                      "payload cannot be read, which is damaged",
                      name, entry->part_size, entry->part_offset);
}

bool inflate_entry(const struct fatbin_entry *entry, const char *name, struct inflation *inflation,
                   struct arena *arena, struct bytes *code)
{
    bool is_part = entry->part_size > 0;
    size_t size = is_part ? entry->part_size : (size_t)entry->uncompressed_size;
    uint8_t *target;

    if (is_opaque(entry))
        return diag_error(
            "Uncompress failed for '%s': it is LTO-IR that only NVIDIA's libraries read", name);
    if (!(entry->flags & (FATBIN_LZ4 | FATBIN_ZSTD))) {
        *code = entry->payload;
        return true;
    }
    if (!check_inflated_size(entry, name) || !take_bytes_of(inflation, entry, name))
        return false;
    target = arena_alloc(arena, size, 1);
    if (!(is_part                     ? inflate_entry_part
          : entry->flags & FATBIN_LZ4 ? inflate_lz4
                                      : inflate_zstd)(entry, name, target))
        return false;
    *code = (struct bytes){target, size};
    return true;
}

/* Whether it takes little to reach the part: hostile ones would be far from few bytes. */
static bool is_near(const struct fatbin_entry *entry)
{
    return entry->part_offset / HEAD_RATIO < entry->payload.size + HEAD_FLOOR / HEAD_RATIO;
}

size_t inflate_head(const struct fatbin_entry *entry, uint8_t *head, size_t size)
{
    if (is_opaque(entry) || entry->payload.size > INT_MAX || size > INT_MAX || !is_near(entry) ||
        entry->part_offset > INT_MAX - size)
        return 0;
    if (entry->part_size && size > entry->part_size)
        size = entry->part_size;
    if (entry->flags & (FATBIN_LZ4 | FATBIN_ZSTD))
        return inflate_range(entry, entry->part_offset, head, size);
    if (size > entry->payload.size)
        size = entry->payload.size;
    if (size)
        memcpy(head, entry->payload.data, size);
    return size;
}
