/* offload.c: reads headers, entries and texts, each checked before it is used. */
#include "input/offload.h"

#include "base/little.h"
#include "diag/diag.h"

#define MAGIC           0xad10ff10u
#define HEADER_SIZE     32u
#define HEADER_SIZE_V3  40u
#define ENTRY_SIZE      40u
#define FLAG_NO_IMAGE   1u
#define ALIGNMENT       8u
#define MOST_TEXTS      64u
#define LONGEST_TEXT    512u /* entries may share texts: the cost of one must be bounded */
#define NEWEST_VERSION  3u
#define TEXT_ENTRY_SIZE 24u

/* One binary. */
struct binary {
    const char *name;
    size_t offset; /* in the file or section, for messages */
    struct bytes bytes;
    uint32_t version;
    uint64_t entries; /* their offset */
    uint64_t count;
};

bool offload_is(struct bytes data)
{
    return data.size >= 4 && little_u32(data.data) == MAGIC;
}

bool offload_is_device(const struct offload_image *image)
{
    return text_starts(image->triple, TEXT("nvptx"));
}

const char *offload_kind_name(uint16_t kind)
{
    static const char *const names[] = {"unspecified", "object", "bitcode", "cubin",
                                        "fatbinary",   "PTX",    "SPIR-V"};

    return kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

static bool report_damaged_binary(const struct binary *binary, const char *what, uint64_t offset,
                                  uint64_t size)
{
    return diag_error(
        "Damaged offload binary '%s': at offset %zu, %s are to be %llu bytes at %llu, but "
        "it has %zu",
        binary->name, binary->offset, what, (unsigned long long)size, (unsigned long long)offset,
        binary->bytes.size);
}

static bool is_compressed(const struct binary *binary)
{
    return binary->version >= 3 && little_u64(binary->bytes.data + HEADER_SIZE) != 0;
}

static bool open_binary(struct binary *binary, struct bytes data)
{
    uint32_t header_size = HEADER_SIZE;
    uint64_t size;

    if (data.size < HEADER_SIZE || !offload_is(data))
        return diag_error(
            "Damaged offload binary '%s': expected 10 FF 10 AD and a header of %u bytes at "
            "offset %zu, where %zu are left",
            binary->name, HEADER_SIZE, binary->offset, data.size);
    binary->version = little_u32(data.data + 4);
    if (binary->version == 0 || binary->version > NEWEST_VERSION)
        return diag_error(
            "Offload binary '%s' at offset %zu has version %u; versions 1 to %u are known",
            binary->name, binary->offset, binary->version, NEWEST_VERSION);
    if (binary->version >= 3)
        header_size = HEADER_SIZE_V3;
    size = little_u64(data.data + 8);
    if (size < header_size || !bytes_slice(data, 0, size, &binary->bytes))
        return diag_error(
            "Damaged offload binary '%s': the header at offset %zu says that it has %llu "
            "bytes, but %zu are there",
            binary->name, binary->offset, (unsigned long long)size, data.size);
    if (is_compressed(binary))
        return diag_error("Offload binary '%s' at offset %zu is compressed, which is not supported",
                          binary->name, binary->offset);
    binary->entries = little_u64(data.data + 16);
    binary->count = binary->version == 1 ? 1 : little_u64(data.data + 24);
    return true;
}

/* The text at `offset`, up to its NUL or, from version 2 on, of that size. */
static bool find_text(const struct binary *binary, uint64_t offset, const uint64_t *size,
                      struct text *text)
{
    struct bytes part;
    const uint8_t *end;

    if (!bytes_slice(binary->bytes, offset, size ? *size : 0, &part))
        return false;
    if (!size) {
        part.size = binary->bytes.size - (size_t)offset;
        if (part.size > LONGEST_TEXT)
            part.size = LONGEST_TEXT;
        end = part.size ? memchr(part.data, '\0', part.size) : NULL;
        if (!end)
            return false;
        part.size = (size_t)(end - part.data);
    }
    *text = (struct text){(const char *)part.data, part.size};
    return true;
}

/* Where the text of a key goes; NULL for unknown keys, which are ignored. */
static struct text *place_of_text(struct offload_image *image, struct text key)
{
    if (text_equal(key, TEXT("triple")))
        return &image->triple;
    return text_equal(key, TEXT("arch")) ? &image->arch : NULL;
}

static bool read_texts(const struct binary *binary, uint64_t offset, uint64_t count,
                       struct offload_image *image)
{
    bool has_sizes = binary->version > 1;
    uint64_t step = has_sizes ? TEXT_ENTRY_SIZE : TEXT_ENTRY_SIZE - 8;
    struct bytes list;

    if (count > MOST_TEXTS || !bytes_slice(binary->bytes, offset, count * step, &list))
        return report_damaged_binary(binary, "texts of an image", offset,
                                     count > MOST_TEXTS ? count : count * step);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *pair = list.data + i * step;
        uint64_t key_at = little_u64(pair), value_at = little_u64(pair + 8);
        uint64_t size = has_sizes ? little_u64(pair + 16) : 0;
        struct text key, *value;

        if (!find_text(binary, key_at, NULL, &key))
            return report_damaged_binary(binary, "a text's key", key_at, 1);
        value = place_of_text(image, key);
        if (value && !find_text(binary, value_at, has_sizes ? &size : NULL, value))
            return report_damaged_binary(binary, "a text", value_at, size);
    }
    return true;
}

/* *total is the size of all images so far: images that overlap could multiply a small file's
 * contents without limit. */
static bool read_image_entry(const struct binary *binary, const uint8_t *entry,
                             struct offload_image *image, uint64_t *total)
{
    uint64_t at = little_u64(entry + 24), size = little_u64(entry + 32);

    image->kind = little_u16(entry);
    image->producer = little_u16(entry + 2);
    if (little_u32(entry + 4) & FLAG_NO_IMAGE)
        size = 0;
    if (!bytes_slice(binary->bytes, at, size, &image->data))
        return report_damaged_binary(binary, "an image", at, size);
    *total += size;
    if (*total > binary->bytes.size)
        return report_damaged_binary(binary, "images, which overlap,", at, size);
    return read_texts(binary, little_u64(entry + 8), little_u64(entry + 16), image);
}

static bool walk_binary(const struct binary *binary, unsigned *number, offload_visit *visit,
                        void *argument)
{
    struct bytes entries;
    uint64_t total = 0;

    if (binary->count > binary->bytes.size / ENTRY_SIZE ||
        !bytes_slice(binary->bytes, binary->entries, binary->count * ENTRY_SIZE, &entries))
        return report_damaged_binary(binary, "entries", binary->entries,
                                     binary->count < UINT32_MAX ? binary->count * ENTRY_SIZE
                                                                : binary->count);
    for (uint64_t i = 0; i < binary->count; i++) {
        struct offload_image image = {.number = ++*number};

        if (!read_image_entry(binary, entries.data + i * ENTRY_SIZE, &image, &total))
            return false;
        if (image.data.size > 0 && !visit(argument, &image))
            return false;
    }
    return true;
}

bool offload_walk(const char *name, struct bytes data, offload_visit *visit, void *argument)
{
    unsigned number = 0;
    size_t step;

    for (size_t at = 0; at < data.size; at += step) {
        struct bytes rest = {data.data + at, data.size - at};
        struct binary binary = {.name = name, .offset = at};

        if (at > 0 && bytes_are_zero(rest))
            break;
        if (!open_binary(&binary, rest) || !walk_binary(&binary, &number, visit, argument))
            return false;
        step = (binary.bytes.size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (step > rest.size)
            step = rest.size;
    }
    return true;
}
