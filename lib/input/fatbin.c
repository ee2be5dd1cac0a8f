/* fatbin.c: a cursor over the entries of one fatbin container.
 *
 * The container is a foreign file: a wrong size in it makes NVIDIA's own nvlink crash or loop. Here
 * every field is checked against the bytes that are really there before it is used, and a returned
 * entry needs no further checks. */
#include "input/fatbin.h"

#include "base/search.h"
#include "diag/diag.h"

#define VERSION 1u

/* Concatenated entries: the version of their form, 0.1, and the most parts that are taken. There
 * are 26 targets that CUDA 13.5 makes cubins for. */
#define CONCATENATED_MAJOR 0u
#define CONCATENATED_MINOR 1u
#define MOST_PARTS         64u

bool fatbin_open(struct fatbin *fatbin, const char *name, struct bytes data, size_t *size)
{
    struct fatbin_header header;
    uint64_t whole;

    if (data.size < sizeof header)
        return diag_error(
            "Damaged fatbin '%s': the header at offset 0 has 16 bytes, but only %zu are there",
            name, data.size);
    memcpy(&header, data.data, sizeof header);
    if (header.magic != FATBIN_MAGIC)
        return diag_error("fatbin wrong format? '%s': magic at offset 0 is 0x%08x, expected 0x%08x",
                          name, header.magic, FATBIN_MAGIC);
    if (header.version != VERSION)
        return diag_error("Damaged fatbin '%s': version at offset 4 is %u, expected 1", name,
                          header.version);
    if (header.size != sizeof header)
        return diag_error("Damaged fatbin '%s': header size at offset 6 is %u, expected 16", name,
                          header.size);
    if (header.follows > data.size - sizeof header)
        return diag_error(
            "Damaged fatbin '%s': the header at offset 8 says that %llu bytes follow, but "
            "only %zu are there",
            name, (unsigned long long)header.follows, data.size - sizeof header);
    whole = sizeof header + header.follows;
    *fatbin =
        (struct fatbin){.name = name, .bytes = {data.data, (size_t)whole}, .next = sizeof header};
    whole = (whole + 7) & ~UINT64_C(7);
    *size = whole < data.size ? (size_t)whole : data.size;
    return true;
}

/* An entry that is being read, or a part of one, for checks and messages. */
struct entry_view {
    const struct fatbin *fatbin;
    size_t at;                         /* offset of the header */
    struct bytes bytes;                /* the header with its strings, ... */
    struct fatbin_entry_header header; /* ... which begins with this */
};

/* The offset of a field, for messages; and what is there. */
#define FIELD(name) offsetof(struct fatbin_entry_header, name)
#define FOUND(name) FIELD(name), view->header.name

static bool report_entry(const struct entry_view *view, size_t field, uint64_t found,
                         const char *what, const char *expected, uint64_t limit)
{
    return diag_error("Damaged fatbin '%s', entry %u: %s at offset %zu is %llu, expected %s %llu",
                      view->fatbin->name, view->fatbin->number, what, view->at + field,
                      (unsigned long long)found, expected, (unsigned long long)limit);
}

/* Header and payload must be multiples of 8 bytes that lie inside the container. */
static bool find_extent(struct entry_view *view)
{
    const struct fatbin *fatbin = view->fatbin;
    const struct fatbin_entry_header *header = &view->header;
    size_t rest = fatbin->bytes.size - fatbin->next;

    if (rest < sizeof *header)
        return diag_error(
            "Damaged fatbin '%s', entry %u: the header at offset %zu has at least 64 bytes, "
            "but only %zu are left",
            fatbin->name, fatbin->number, fatbin->next, rest);
    view->bytes = (struct bytes){fatbin->bytes.data + fatbin->next, rest};
    memcpy(&view->header, view->bytes.data, sizeof view->header);
    if (header->size < sizeof *header)
        return report_entry(view, FOUND(size), "header size", "at least", 64);
    if (header->size % 8)
        return report_entry(view, FOUND(size), "header size", "a multiple of", 8);
    if (header->size > rest)
        return report_entry(view, FOUND(size), "header size", "at most", rest);
    if (header->payload_size % 8)
        return report_entry(view, FOUND(payload_size), "payload size", "a multiple of", 8);
    if (header->payload_size > rest - header->size)
        return report_entry(view, FOUND(payload_size), "payload size", "at most",
                            rest - header->size);
    view->bytes.size = header->size;
    return true;
}

static bool read_entry_arch(const struct entry_view *view, struct fatbin_entry *entry)
{
    uint32_t sm = view->header.sm;

    if (sm < 10)
        return report_entry(view, FOUND(sm), "SM number", "at least", 10);
    if (sm > 999)
        return report_entry(view, FOUND(sm), "SM number", "at most", 999);
    if ((entry->flags & FATBIN_SUFFIX_A) && (entry->flags & FATBIN_SUFFIX_F))
        return diag_error(
            "Damaged fatbin '%s', entry %u: flags at offset %zu are 0x%llx, with both suffix "
            "a and suffix f",
            view->fatbin->name, view->fatbin->number, view->at + FIELD(flags),
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
    uint32_t compressed = view->header.compressed_size;

    if (compressed > view->header.payload_size)
        return report_entry(view, FOUND(compressed_size), "compressed size", "at most",
                            view->header.payload_size);
    if (method == (FATBIN_LZ4 | FATBIN_ZSTD) || (method == 0 && compressed != 0))
        return diag_error(
            "Damaged fatbin '%s', entry %u: flags at offset %zu are 0x%llx with compressed "
            "size %u, expected one of LZ4 (0x2000) and zstd (0x8000)",
            view->fatbin->name, view->fatbin->number, view->at + FIELD(flags),
            (unsigned long long)entry->flags, compressed);
    if (method == 0)
        return true;
    if (compressed == 0)
        return report_entry(view, FOUND(compressed_size), "compressed size", "at least", 1);
    entry->payload.size = compressed;
    entry->uncompressed_size = view->header.uncompressed_size;
    if (entry->uncompressed_size == 0)
        return report_entry(view, FOUND(uncompressed_size), "uncompressed size", "at least", 1);
    return true;
}

/* Reads a string in the variable part of the header, after the fixed fields. */
static bool read_string(const struct entry_view *view, size_t field, const char *what,
                        struct fatbin_string place, struct text *string)
{
    struct bytes part;

    if (place.offset < sizeof view->header)
        return report_entry(view, field, place.offset, what, "at least", sizeof view->header);
    if (!bytes_slice(view->bytes, place.offset, place.size, &part))
        return diag_error(
            "Damaged fatbin '%s', entry %u: %s at offset %zu is %u with length %u, beyond the "
            "header's %zu bytes",
            view->fatbin->name, view->fatbin->number, what, view->at + field, place.offset,
            place.size, view->bytes.size);
    *string = (struct text){(const char *)part.data, part.size};
    if (string->size && string->data[string->size - 1] == '\0')
        string->size--;
    return true;
}

/* The descriptor of the option string, which has been found to be there. */
static struct fatbin_string option_descriptor(const struct entry_view *view)
{
    struct fatbin_string string;

    memcpy(&string, view->bytes.data + view->header.options, sizeof string);
    return string;
}

static bool read_entry_strings(const struct entry_view *view, struct fatbin_entry *entry)
{
    const struct fatbin_entry_header *header = &view->header;
    const struct fatbin_string descriptor = {header->options, sizeof descriptor};
    struct fatbin_string place;
    struct text string;

    if (header->identity.offset && !read_string(view, FIELD(identity), "offset of the source name",
                                                header->identity, &entry->identity))
        return false;
    if (!header->options)
        return true;
    if (!read_string(view, FIELD(options), "offset of the option descriptor", descriptor, &string))
        return false;
    place = option_descriptor(view);
    /* The PTX in the static libraries of CUDA 11.8 has no options, and this. */
    if (place.offset == 0 && place.size == 0)
        return true;
    if (!read_string(view, FIELD(options), "offset of the option string", place, &string))
        return false;
    if (!(entry->flags & FATBIN_BLOB))
        entry->options = string;
    return true;
}

static bool find_parts(struct fatbin *fatbin, const struct entry_view *view,
                       struct fatbin_entry *entry)
{
    uint32_t table = view->header.options;
    struct fatbin_parts parts;
    struct bytes head;

    if (!read_sizes(view, entry))
        return false;
    if (table < sizeof view->header || !bytes_slice(view->bytes, table, sizeof parts, &head))
        return report_entry(view, FOUND(options), "offset of the table of parts", "at most",
                            view->bytes.size - sizeof parts);
    memcpy(&parts, head.data, sizeof parts);
    if (parts.count == 0 || parts.count > MOST_PARTS)
        return report_entry(view, table, parts.count, "number of parts", "1 to", MOST_PARTS);
    if (parts.size < sizeof parts || parts.size > view->bytes.size - table)
        return report_entry(view, table + 4, parts.size, "size of the table of parts", "at most",
                            view->bytes.size - table);
    fatbin->parts = parts.count;
    fatbin->concatenated.whole = *entry;
    fatbin->concatenated.at = view->at + table + sizeof parts;
    fatbin->concatenated.end = view->at + table + parts.size;
    return true;
}

static size_t align8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* The size of a part's record, which ends with its strings. Both are known to lie in it. */
static size_t part_record_size(const struct entry_view *view)
{
    size_t size = sizeof view->header;

    if (view->header.identity.offset)
        RAISE(size, view->header.identity.offset + align8((size_t)view->header.identity.size + 1));
    if (view->header.options)
        RAISE(size,
              option_descriptor(view).offset + align8((size_t)option_descriptor(view).size + 1));
    return size;
}

static bool place_part(const struct entry_view *view, struct fatbin_entry *entry)
{
    uint32_t offset = view->header.size; /* of the part: see fatbin.h */
    uint64_t size = view->header.payload_size;
    uint64_t whole = entry->uncompressed_size ? entry->uncompressed_size : entry->payload.size;

    if (offset > whole)
        return report_entry(view, FOUND(size), "offset of a part", "at most", whole);
    if (size == 0 || size > whole - offset)
        return report_entry(view, FOUND(payload_size), "size of a part", "1 to", whole - offset);
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
    struct entry_view part = {fatbin, at, {fatbin->bytes.data + at, rest}, {0}}, *view = &part;
    const struct fatbin_entry_header *header = &part.header;

    if (rest < sizeof *header)
        return diag_error("Damaged fatbin '%s', entry %u: a part's record at offset %zu has at "
                          "least 64 bytes, but only %zu are left",
                          fatbin->name, fatbin->number, at, rest);
    memcpy(&view->header, view->bytes.data, sizeof view->header);
    if (header->kind != FATBIN_ELF)
        return report_entry(view, FOUND(kind), "kind of a part", "one of cubins,", FATBIN_ELF);
    if (header->version != FATBIN_ENTRY_VERSION)
        return report_entry(view, FOUND(version), "version of a part", "exactly",
                            FATBIN_ENTRY_VERSION);
    if (header->flags & methods)
        return report_entry(view, FOUND(flags), "flags of a part", "none of", methods);
    *entry = fatbin->concatenated.whole;
    entry->part = ++fatbin->concatenated.whole.part;
    entry->kind = header->kind;
    entry->minor = header->minor;
    entry->major = header->major;
    entry->flags = header->flags | (entry->flags & methods);
    if (!read_entry_arch(view, entry) || !read_entry_strings(view, entry) ||
        !place_part(view, entry))
        return false;
    fatbin->parts--;
    fatbin->concatenated.at = at += part_record_size(view);
    if (fatbin->parts ? at <= fatbin->concatenated.end : at == fatbin->concatenated.end)
        return true;
    return diag_error("Damaged fatbin '%s', entry %u: the table of parts ends at offset %zu, but "
                      "record %u at %zu",
                      fatbin->name, fatbin->number, fatbin->concatenated.end, entry->part, at);
}

enum fatbin_result fatbin_next(struct fatbin *fatbin, struct fatbin_entry *entry)
{
    struct entry_view view = {.fatbin = fatbin, .at = fatbin->next};
    const struct fatbin_entry_header *header = &view.header;
    bool is_known;

    if (fatbin->parts)
        return read_part(fatbin, entry) ? FATBIN_ENTRY : FATBIN_DAMAGED;
    if (fatbin->next >= fatbin->bytes.size)
        return FATBIN_END;
    fatbin->number++;
    if (!find_extent(&view))
        return FATBIN_DAMAGED;
    is_known = header->version == FATBIN_ENTRY_VERSION;
    *entry = (struct fatbin_entry){
        .kind = header->kind,
        .version = header->version,
        .major = header->major,
        .minor = header->minor,
        .flags = header->flags,
        .number = fatbin->number,
        .payload = {view.bytes.data + header->size, (size_t)header->payload_size},
        .whole = {view.bytes.data, header->size + (size_t)header->payload_size},
        .is_relocatable = is_known && header->kind == FATBIN_RELOCATABLE_PTX,
    };
    fatbin->next += entry->whole.size;
    if (is_known && entry->kind == FATBIN_CONCATENATED && entry->major == CONCATENATED_MAJOR &&
        entry->minor == CONCATENATED_MINOR)
        return find_parts(fatbin, &view, entry) && read_part(fatbin, entry) ? FATBIN_ENTRY
                                                                            : FATBIN_DAMAGED;
    if (entry->is_relocatable)
        entry->kind = FATBIN_PTX;
    if (is_known &&
        (entry->kind == FATBIN_PTX || entry->kind == FATBIN_ELF || entry->kind == FATBIN_NVVM))
        return read_entry_arch(&view, entry) && read_sizes(&view, entry) &&
                       read_entry_strings(&view, entry)
                   ? FATBIN_ENTRY
                   : FATBIN_DAMAGED;
    /* Only kind, version and extent can be trusted; an SM number in range helps messages. */
    if (header->sm >= 10 && header->sm <= 999)
        entry->arch.sm = header->sm;
    return FATBIN_ENTRY;
}
