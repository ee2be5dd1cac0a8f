/* offload.c: reads headers, entries and texts, each checked before it is used. */
#include "input/hostobj.h"

#include "base/text.h"
#include "diag/diag.h"

#define FLAG_NO_IMAGE  1u
#define ALIGNMENT      8u
#define MOST_TEXTS     64u
#define LONGEST_TEXT   512u /* entries may share texts: the cost of one must be bounded */
#define NEWEST_VERSION 3u

/* One binary. */
struct binary {
    const char *name;
    size_t offset; /* in the file or section, for messages */
    struct bytes bytes;
    struct offload_header header;
};

bool offload_is(struct bytes data)
{
    return data.size >= 4 && little_u32(data.data) == OFFLOAD_MAGIC;
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

static bool open_binary(struct binary *binary, struct bytes data)
{
    struct offload_header *header = &binary->header;
    size_t size = sizeof *header;

    if (data.size < sizeof *header || !offload_is(data))
        return diag_error(
            "Damaged offload binary '%s': expected 10 FF 10 AD and a header of %zu bytes at "
            "offset %zu, where %zu are left",
            binary->name, sizeof *header, binary->offset, data.size);
    memcpy(header, data.data, sizeof *header);
    if (header->version == 0 || header->version > NEWEST_VERSION)
        return diag_error(
            "Offload binary '%s' at offset %zu has version %u; versions 1 to %u are known",
            binary->name, binary->offset, header->version, NEWEST_VERSION);
    if (header->version >= 3)
        size += sizeof(uint64_t);
    if (header->size < size || !bytes_slice(data, 0, header->size, &binary->bytes))
        return diag_error(
            "Damaged offload binary '%s': the header at offset %zu says that it has %llu "
            "bytes, but %zu are there",
            binary->name, binary->offset, (unsigned long long)header->size, data.size);
    if (size > sizeof *header && little_u64(data.data + sizeof *header) != 0)
        return diag_error("Offload binary '%s' at offset %zu is compressed, which is not supported",
                          binary->name, binary->offset);
    if (header->version == 1)
        header->count = 1;
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

static bool read_texts(const struct binary *binary, const struct offload_entry *entry,
                       struct offload_image *image)
{
    bool has_sizes = binary->header.version > 1;
    size_t step = has_sizes ? sizeof(struct offload_pair) : offsetof(struct offload_pair, size);
    uint64_t count = entry->text_count;
    struct bytes list;

    if (count > MOST_TEXTS || !bytes_slice(binary->bytes, entry->texts, count * step, &list))
        return report_damaged_binary(binary, "texts of an image", entry->texts,
                                     count > MOST_TEXTS ? count : count * step);
    for (uint64_t i = 0; i < count; i++) {
        struct offload_pair pair = {0};
        struct text key, *value = NULL;

        memcpy(&pair, list.data + i * step, step);
        if (!find_text(binary, pair.key, NULL, &key))
            return report_damaged_binary(binary, "a text's key", pair.key, 1);
        if (text_equal(key, TEXT("triple")))
            value = &image->triple;
        else if (text_equal(key, TEXT("arch")))
            value = &image->arch;
        if (value && !find_text(binary, pair.value, has_sizes ? &pair.size : NULL, value))
            return report_damaged_binary(binary, "a text", pair.value, pair.size);
    }
    return true;
}

/* *total is the size of all images so far: images that overlap could multiply a small file's
 * contents without limit. */
static bool read_image_entry(const struct binary *binary, const struct offload_entry *entry,
                             struct offload_image *image, uint64_t *total)
{
    uint64_t size = entry->flags & FLAG_NO_IMAGE ? 0 : entry->image_size;

    image->kind = entry->kind;
    image->producer = entry->producer;
    if (!bytes_slice(binary->bytes, entry->image, size, &image->data))
        return report_damaged_binary(binary, "an image", entry->image, size);
    *total += size;
    if (*total > binary->bytes.size)
        return report_damaged_binary(binary, "images, which overlap,", entry->image, size);
    return read_texts(binary, entry, image);
}

static bool walk_binary(const struct binary *binary, unsigned *number, offload_visit *visit,
                        void *argument)
{
    struct offload_entry entry;
    uint64_t count = binary->header.count, total = 0;
    struct bytes entries;

    if (count > binary->bytes.size / sizeof entry ||
        !bytes_slice(binary->bytes, binary->header.entries, count * sizeof entry, &entries))
        return report_damaged_binary(binary, "entries", binary->header.entries,
                                     count < UINT32_MAX ? count * sizeof entry : count);
    for (uint64_t i = 0; i < count; i++) {
        struct offload_image image = {.number = ++*number};

        memcpy(&entry, entries.data + i * sizeof entry, sizeof entry);
        if (!read_image_entry(binary, &entry, &image, &total))
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
