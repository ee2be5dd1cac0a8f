/* fatbin.c: a cursor over the entries of one fatbin container.
 *
 * The container is a foreign file: a wrong size in it makes NVIDIA's own nvlink crash or loop. Here
 * every field is checked against the bytes that are really there before it is used, and a returned
 * entry needs no further checks. */
#include "input/fatbin.h"

#include "base/little.h"
#include "diag/diag.h"

#define ENTRY_HEADER_SIZE      64u
#define ENTRY_VERSION          0x0101u
#define OPTION_DESCRIPTOR_SIZE 8u

/* Concatenated entries: the version of their form, 0.1, and the most parts that are taken. There
 * are 26 targets that CUDA 13.5 makes cubins for. */
#define CONCATENATED_MAJOR 0u
#define CONCATENATED_MINOR 1u
#define MOST_PARTS         64u

/* Offsets of the fields in an entry's header. */
enum entry_field {
    FIELD_KIND = 0x00,
    FIELD_VERSION = 0x02,
    FIELD_HEADER_SIZE = 0x04,
    FIELD_PAYLOAD_SIZE = 0x08,
    FIELD_COMPRESSED_SIZE = 0x10,
    FIELD_OPTIONS = 0x14,
    FIELD_MINOR = 0x18,
    FIELD_MAJOR = 0x1a,
    FIELD_SM = 0x1c,
    FIELD_IDENTITY = 0x20,
    FIELD_IDENTITY_SIZE = 0x24,
    FIELD_FLAGS = 0x28,
    FIELD_UNCOMPRESSED_SIZE = 0x38,
    /* Of a part's record: */
    FIELD_PART_OFFSET = FIELD_HEADER_SIZE,
    FIELD_PART_SIZE = FIELD_PAYLOAD_SIZE,
};

bool fatbin_open(struct fatbin *fatbin, const char *name, struct bytes data, size_t *size)
{
    uint64_t follows, whole;

    if (data.size < FATBIN_HEADER_SIZE)
        return diag_error(
            "Damaged fatbin '%s': the header at offset 0 has 16 bytes, but only %zu are there",
            name, data.size);
    if (little_u32(data.data) != FATBIN_MAGIC)
        return diag_error("fatbin wrong format? '%s': magic at offset 0 is 0x%08x, expected 0x%08x",
                          name, little_u32(data.data), FATBIN_MAGIC);
    if (little_u16(data.data + 4) != 1)
        return diag_error("Damaged fatbin '%s': version at offset 4 is %u, expected 1", name,
                          little_u16(data.data + 4));
    if (little_u16(data.data + 6) != FATBIN_HEADER_SIZE)
        return diag_error("Damaged fatbin '%s': header size at offset 6 is %u, expected 16", name,
                          little_u16(data.data + 6));
    follows = little_u64(data.data + 8);
    if (follows > data.size - FATBIN_HEADER_SIZE)
        return diag_error(
            "Damaged fatbin '%s': the header at offset 8 says that %llu bytes follow, but "
            "only %zu are there",
            name, (unsigned long long)follows, data.size - FATBIN_HEADER_SIZE);
    whole = FATBIN_HEADER_SIZE + follows;
    *fatbin = (struct fatbin){
        .name = name, .bytes = {data.data, (size_t)whole}, .next = FATBIN_HEADER_SIZE};
    whole = (whole + 7) & ~UINT64_C(7);
    *size = whole < data.size ? (size_t)whole : data.size;
    return true;
}

/* An entry that is being read, or a part of one: its header and sizes, for checks and messages. */
struct entry_view {
    const struct fatbin *fatbin;
    size_t at;             /* offset of the header */
    const uint8_t *header; /* header_size bytes, at least ENTRY_HEADER_SIZE */
    size_t header_size;
    size_t payload_size;
};

static bool report_damaged_entry(const struct entry_view *view, size_t field, const char *what,
                                 uint64_t found, const char *expected, uint64_t limit)
{
    return diag_error("Damaged fatbin '%s', entry %u: %s at offset %zu is %llu, expected %s %llu",
                      view->fatbin->name, view->fatbin->number, what, view->at + field,
                      (unsigned long long)found, expected, (unsigned long long)limit);
}

/* Header and payload must be multiples of 8 bytes that lie inside the container. */
static bool find_extent(struct entry_view *view)
{
    const struct fatbin *fatbin = view->fatbin;
    size_t rest = fatbin->bytes.size - fatbin->next;
    uint64_t payload;
    uint32_t header;

    if (rest < ENTRY_HEADER_SIZE)
        return diag_error(
            "Damaged fatbin '%s', entry %u: the header at offset %zu has at least 64 bytes, "
            "but only %zu are left",
            fatbin->name, fatbin->number, fatbin->next, rest);
    view->header = fatbin->bytes.data + fatbin->next;
    header = little_u32(view->header + FIELD_HEADER_SIZE);
    payload = little_u64(view->header + FIELD_PAYLOAD_SIZE);
    if (header < ENTRY_HEADER_SIZE)
        return report_damaged_entry(view, FIELD_HEADER_SIZE, "header size", header, "at least", 64);
    if (header % 8)
        return report_damaged_entry(view, FIELD_HEADER_SIZE, "header size", header, "a multiple of",
                                    8);
    if (header > rest)
        return report_damaged_entry(view, FIELD_HEADER_SIZE, "header size", header, "at most",
                                    rest);
    if (payload % 8)
        return report_damaged_entry(view, FIELD_PAYLOAD_SIZE, "payload size", payload,
                                    "a multiple of", 8);
    if (payload > rest - header)
        return report_damaged_entry(view, FIELD_PAYLOAD_SIZE, "payload size", payload, "at most",
                                    rest - header);
    view->header_size = header;
    view->payload_size = (size_t)payload;
    return true;
}

static bool read_entry_arch(const struct entry_view *view, struct fatbin_entry *entry)
{
    uint32_t sm = little_u32(view->header + FIELD_SM);

    if (sm < 10)
        return report_damaged_entry(view, FIELD_SM, "SM number", sm, "at least", 10);
    if (sm > 999)
        return report_damaged_entry(view, FIELD_SM, "SM number", sm, "at most", 999);
    if ((entry->flags & FATBIN_SUFFIX_A) && (entry->flags & FATBIN_SUFFIX_F))
        return diag_error(
            "Damaged fatbin '%s', entry %u: flags at offset %zu are 0x%llx, with both suffix "
            "a and suffix f",
            view->fatbin->name, view->fatbin->number, view->at + FIELD_FLAGS,
            (unsigned long long)entry->flags);
    entry->arch.sm = sm;
    if (entry->flags & FATBIN_SUFFIX_A)
        entry->arch.suffix = 'a';
    if (entry->flags & FATBIN_SUFFIX_F)
        entry->arch.suffix = 'f';
    return true;
}

static bool read_sizes(const struct entry_view *view, struct fatbin_entry *entry)
{
    uint64_t method = entry->flags & (FATBIN_LZ4 | FATBIN_ZSTD);
    uint32_t compressed = little_u32(view->header + FIELD_COMPRESSED_SIZE);

    if (compressed > view->payload_size)
        return report_damaged_entry(view, FIELD_COMPRESSED_SIZE, "compressed size", compressed,
                                    "at most", view->payload_size);
    if (method == (FATBIN_LZ4 | FATBIN_ZSTD) || (method == 0 && compressed != 0))
        return diag_error(
            "Damaged fatbin '%s', entry %u: flags at offset %zu are 0x%llx with compressed "
            "size %u, expected one of LZ4 (0x2000) and zstd (0x8000)",
            view->fatbin->name, view->fatbin->number, view->at + FIELD_FLAGS,
            (unsigned long long)entry->flags, compressed);
    if (method == 0)
        return true;
    if (compressed == 0)
        return report_damaged_entry(view, FIELD_COMPRESSED_SIZE, "compressed size", 0, "at least",
                                    1);
    entry->payload.size = compressed;
    entry->uncompressed_size = little_u64(view->header + FIELD_UNCOMPRESSED_SIZE);
    if (entry->uncompressed_size == 0)
        return report_damaged_entry(view, FIELD_UNCOMPRESSED_SIZE, "uncompressed size", 0,
                                    "at least", 1);
    return true;
}

/* Reads a string in the variable part of the header, after the fixed fields. */
static bool read_string(const struct entry_view *view, enum entry_field field, const char *what,
                        uint32_t offset, uint32_t size, struct text *string)
{
    struct bytes header = {view->header, view->header_size}, part;

    if (offset < ENTRY_HEADER_SIZE)
        return report_damaged_entry(view, field, what, offset, "at least", ENTRY_HEADER_SIZE);
    if (!bytes_slice(header, offset, size, &part))
        return diag_error(
            "Damaged fatbin '%s', entry %u: %s at offset %zu is %u with length %u, beyond the "
            "header's %zu bytes",
            view->fatbin->name, view->fatbin->number, what, view->at + field, offset, size,
            view->header_size);
    *string = (struct text){(const char *)part.data, part.size};
    if (string->size && string->data[string->size - 1] == '\0')
        string->size--;
    return true;
}

static bool read_entry_strings(const struct entry_view *view, struct fatbin_entry *entry)
{
    uint32_t descriptor = little_u32(view->header + FIELD_OPTIONS);
    uint32_t identity = little_u32(view->header + FIELD_IDENTITY);
    uint32_t identity_size = little_u32(view->header + FIELD_IDENTITY_SIZE);
    struct text string;

    if (identity && !read_string(view, FIELD_IDENTITY, "offset of the source name", identity,
                                 identity_size, &entry->identity))
        return false;
    if (!descriptor)
        return true;
    if (!read_string(view, FIELD_OPTIONS, "offset of the option descriptor", descriptor,
                     OPTION_DESCRIPTOR_SIZE, &string) ||
        !read_string(view, FIELD_OPTIONS, "offset of the option string",
                     little_u32(view->header + descriptor),
                     little_u32(view->header + descriptor + 4), &string))
        return false;
    if (!(entry->flags & FATBIN_BLOB))
        entry->options = string;
    return true;
}

static bool find_parts(struct fatbin *fatbin, const struct entry_view *view,
                       struct fatbin_entry *entry)
{
    uint32_t table = little_u32(view->header + FIELD_OPTIONS), count, size;
    struct bytes header = {view->header, view->header_size}, head;

    if (!read_sizes(view, entry))
        return false;
    if (table < ENTRY_HEADER_SIZE || !bytes_slice(header, table, OPTION_DESCRIPTOR_SIZE, &head))
        return report_damaged_entry(view, FIELD_OPTIONS, "offset of the table of parts", table,
                                    "at most", view->header_size - OPTION_DESCRIPTOR_SIZE);
    count = little_u32(head.data);
    size = little_u32(head.data + 4);
    if (count == 0 || count > MOST_PARTS)
        return report_damaged_entry(view, table, "number of parts", count, "1 to", MOST_PARTS);
    if (size < OPTION_DESCRIPTOR_SIZE || size > view->header_size - table)
        return report_damaged_entry(view, table + 4, "size of the table of parts", size, "at most",
                                    view->header_size - table);
    fatbin->parts = count;
    fatbin->concatenated.whole = *entry;
    fatbin->concatenated.at = view->at + table + OPTION_DESCRIPTOR_SIZE;
    fatbin->concatenated.end = view->at + table + size;
    return true;
}

static size_t align8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* The size of a part's record: its strings are the last that it has. Both are known to lie in it.
 */
static size_t part_record_size(const struct entry_view *view)
{
    uint32_t descriptor = little_u32(view->header + FIELD_OPTIONS);
    uint32_t identity = little_u32(view->header + FIELD_IDENTITY);
    size_t size = ENTRY_HEADER_SIZE, end;

    if (identity) {
        end = identity + align8((size_t)little_u32(view->header + FIELD_IDENTITY_SIZE) + 1);
        size = end > size ? end : size;
    }
    if (descriptor) {
        end = little_u32(view->header + descriptor) +
              align8((size_t)little_u32(view->header + descriptor + 4) + 1);
        size = end > size ? end : size;
    }
    return size;
}

static bool place_part(const struct entry_view *view, struct fatbin_entry *entry)
{
    uint32_t offset = little_u32(view->header + FIELD_PART_OFFSET);
    uint64_t size = little_u64(view->header + FIELD_PART_SIZE);
    uint64_t whole = entry->uncompressed_size ? entry->uncompressed_size : entry->payload.size;

    if (offset > whole)
        return report_damaged_entry(view, FIELD_PART_OFFSET, "offset of a part", offset, "at most",
                                    whole);
    if (size == 0 || size > whole - offset)
        return report_damaged_entry(view, FIELD_PART_SIZE, "size of a part", size, "1 to",
                                    whole - offset);
    if (!entry->uncompressed_size) {
        entry->payload = (struct bytes){entry->payload.data + offset, (size_t)size};
        return true;
    }
    entry->part_offset = offset;
    entry->part_size = (size_t)size;
    return true;
}

/* Reads the next part of a concatenated entry. Only cubins were ever seen in one. */
static bool read_part(struct fatbin *fatbin, struct fatbin_entry *entry)
{
    const uint64_t methods = FATBIN_LZ4 | FATBIN_ZSTD;
    size_t at = fatbin->concatenated.at, rest = fatbin->concatenated.end - at;
    struct entry_view view = {fatbin, at, fatbin->bytes.data + at, rest, 0};
    uint64_t flags;

    if (rest < ENTRY_HEADER_SIZE)
        return diag_error("Damaged fatbin '%s', entry %u: a part's record at offset %zu has at "
                          "least 64 bytes, but only %zu are left",
                          fatbin->name, fatbin->number, at, rest);
    *entry = fatbin->concatenated.whole;
    entry->part = ++fatbin->concatenated.whole.part;
    entry->kind = little_u16(view.header + FIELD_KIND);
    if (entry->kind != FATBIN_ELF)
        return report_damaged_entry(&view, FIELD_KIND, "kind of a part", entry->kind,
                                    "one of cubins,", FATBIN_ELF);
    if (little_u16(view.header + FIELD_VERSION) != ENTRY_VERSION)
        return report_damaged_entry(&view, FIELD_VERSION, "version of a part",
                                    little_u16(view.header + FIELD_VERSION), "exactly",
                                    ENTRY_VERSION);
    flags = little_u64(view.header + FIELD_FLAGS);
    if (flags & methods)
        return report_damaged_entry(&view, FIELD_FLAGS, "flags of a part", flags, "none of",
                                    methods);
    entry->minor = little_u16(view.header + FIELD_MINOR);
    entry->major = little_u16(view.header + FIELD_MAJOR);
    entry->flags = flags | (entry->flags & methods);
    if (!read_entry_arch(&view, entry) || !read_entry_strings(&view, entry) ||
        !place_part(&view, entry))
        return false;
    fatbin->parts--;
    fatbin->concatenated.at = at += part_record_size(&view);
    if (fatbin->parts ? at <= fatbin->concatenated.end : at == fatbin->concatenated.end)
        return true;
    return diag_error("Damaged fatbin '%s', entry %u: the table of parts ends at offset %zu, but "
                      "record %u at %zu",
                      fatbin->name, fatbin->number, fatbin->concatenated.end, entry->part, at);
}

static bool is_known_kind(uint32_t kind)
{
    return kind == FATBIN_PTX || kind == FATBIN_ELF || kind == FATBIN_NVVM;
}

static bool is_concatenated(const struct fatbin_entry *entry)
{
    return entry->kind == FATBIN_CONCATENATED && entry->version == ENTRY_VERSION &&
           entry->major == CONCATENATED_MAJOR && entry->minor == CONCATENATED_MINOR;
}

enum fatbin_result fatbin_next(struct fatbin *fatbin, struct fatbin_entry *entry)
{
    struct entry_view view = {.fatbin = fatbin, .at = fatbin->next};

    if (fatbin->parts)
        return read_part(fatbin, entry) ? FATBIN_ENTRY : FATBIN_DAMAGED;
    if (fatbin->next >= fatbin->bytes.size)
        return FATBIN_END;
    fatbin->number++;
    if (!find_extent(&view))
        return FATBIN_DAMAGED;
    *entry = (struct fatbin_entry){
        .kind = little_u16(view.header + FIELD_KIND),
        .version = little_u16(view.header + FIELD_VERSION),
        .major = little_u16(view.header + FIELD_MAJOR),
        .minor = little_u16(view.header + FIELD_MINOR),
        .flags = little_u64(view.header + FIELD_FLAGS),
        .number = fatbin->number,
        .payload = {view.header + view.header_size, view.payload_size},
        .whole = {view.header, view.header_size + view.payload_size},
    };
    fatbin->next += view.header_size + view.payload_size;
    if (is_concatenated(entry))
        return find_parts(fatbin, &view, entry) && read_part(fatbin, entry) ? FATBIN_ENTRY
                                                                            : FATBIN_DAMAGED;
    if (entry->kind == FATBIN_RELOCATABLE_PTX && entry->version == ENTRY_VERSION) {
        entry->kind = FATBIN_PTX;
        entry->is_relocatable = true;
    }
    if (is_known_kind(entry->kind) && entry->version == ENTRY_VERSION) {
        if (!read_entry_arch(&view, entry) || !read_sizes(&view, entry) ||
            !read_entry_strings(&view, entry))
            return FATBIN_DAMAGED;
    } else {
        /* Only kind, version and extent can be trusted; an SM number in range helps messages. */
        uint32_t sm = little_u32(view.header + FIELD_SM);

        entry->arch.sm = sm >= 10 && sm <= 999 ? sm : 0;
    }
    return FATBIN_ENTRY;
}
