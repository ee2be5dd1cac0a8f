/* hostobj.c: host ELF files, for which damage and malice cost no more than reading the headers; and
 * offload binaries, of which headers, entries and texts are checked before they are used. */
#include "input/hostobj.h"

#include "diag/diag.h"

static bool report_object(struct hostobj *object, const char *what)
{
    object->is_damaged = true;
    return diag_error("Could not find fatbin in '%s': the ELF file is damaged: %s", object->name,
                      what);
}

void hostobj_open(struct hostobj *object, const char *name, struct bytes data)
{
    struct elf_file *file = &object->file;

    *object = (struct hostobj){.name = name};
    if (!elf_file_open(file, data)) {
        report_object(object, "its header cannot be read");
    } else if (!elf_file_find_sections(file)) {
        object->is_damaged = true;
        diag_error(
            "Could not find fatbin in '%s': the ELF file is cut off: its section headers are at "
            "offset %llu, but it has %zu bytes",
            name, (unsigned long long)file->header.e_shoff, data.size);
    } else if (file->section_count > 0 && file->names.size == 0) {
        report_object(object, "its section names cannot be read");
    }
}

void hostobj_close(void *argument)
{
    struct hostobj *object = argument;

    elf_file_close(&object->file);
}

/* Sections that overlap could multiply a small file's contents without limit. */
bool hostobj_next(struct hostobj *object, const char *section, struct bytes *contents)
{
    struct elf_file *file = &object->file;
    GElf_Shdr header;

    if (object->is_damaged && !file->last)
        return false;
    while (elf_file_next(file, &header)) {
        if (!elf_file_has_name(file, &header, section))
            continue;
        if (!elf_file_contents(file, &header, contents)) {
            object->is_damaged = true;
            diag_error(
                "Could not find fatbin in '%s': the section at offset %llu has %llu bytes, but "
                "the file has %zu",
                object->name, (unsigned long long)header.sh_offset,
                (unsigned long long)header.sh_size, file->data.size);
        } else if (contents->size > file->data.size - object->total) {
            report_object(object, "its sections overlap");
        } else {
            object->total += contents->size;
            return true;
        }
    }
    return false;
}

bool hostobj_next_code(struct hostobj *object, const char **section, struct bytes *contents)
{
    /* In the order in which they are read. */
    static const char *const sections[] = {HOSTOBJ_RELOCATABLE, HOSTOBJ_WHOLE_PROGRAM,
                                           OFFLOAD_SECTION};

    for (; object->code < sizeof sections / sizeof *sections; object->code++) {
        *section = sections[object->code];
        if (hostobj_next(object, *section, contents))
            return true;
    }
    object->code = 0;
    return false;
}

bool hostobj_find(struct hostobj *object, const char *section, struct bytes *contents)
{
    bool is_found = false;

    while (hostobj_next(object, section, contents))
        is_found = true;
    return is_found;
}

bool hostobj_next_text(struct bytes *constants, struct text *ptx)
{
    static const char begin[] = "// BEGIN PREAMBLE\n.version";
    const uint8_t *end = constants->data + constants->size, *at;

    at = constants->size ? memmem(constants->data, constants->size, begin, sizeof begin - 1) : NULL;
    if (!at)
        return false;
    ptx->data = (const char *)at;
    ptx->size = strnlen(ptx->data, (size_t)(end - at));
    *constants = (struct bytes){at + ptx->size, (size_t)(end - at) - ptx->size};
    return true;
}

/* Looks for DF_1_PIE, which a static PIE has. */
static bool has_pie_flag(struct bytes dynamic)
{
    Elf64_Dyn entry;

    for (size_t at = 0; dynamic.size - at >= sizeof entry; at += sizeof entry) {
        memcpy(&entry, dynamic.data + at, sizeof entry);
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_FLAGS_1)
            return (entry.d_un.d_val & DF_1_PIE) != 0;
    }
    return false;
}

bool hostobj_is_shared(struct bytes data)
{
    struct elf_file object = {0};
    struct bytes dynamic = {0};
    GElf_Phdr segment;

    CONTEXT_DEFER(elf_file_close, &object);
    if (!elf_file_open(&object, data) || object.header.e_type != ET_DYN)
        return false;
    for (int i = 0; gelf_getphdr(object.elf, i, &segment); i++) {
        if (segment.p_type == PT_INTERP)
            return false;
        if (segment.p_type == PT_DYNAMIC && !dynamic.data)
            bytes_slice(data, segment.p_offset, segment.p_filesz, &dynamic);
    }
    return !has_pie_flag(dynamic);
}

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

static bool report_binary(const struct binary *binary, const char *what, uint64_t offset,
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
        return report_binary(binary, "texts of an image", entry->texts,
                             count > MOST_TEXTS ? count : count * step);
    for (uint64_t i = 0; i < count; i++) {
        struct offload_pair pair = {0};
        struct text key, *value = NULL;

        memcpy(&pair, list.data + i * step, step);
        if (!find_text(binary, pair.key, NULL, &key))
            return report_binary(binary, "a text's key", pair.key, 1);
        if (text_equal(key, TEXT("triple")))
            value = &image->triple;
        else if (text_equal(key, TEXT("arch")))
            value = &image->arch;
        if (value && !find_text(binary, pair.value, has_sizes ? &pair.size : NULL, value))
            return report_binary(binary, "a text", pair.value, pair.size);
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
        return report_binary(binary, "an image", entry->image, size);
    *total += size;
    if (*total > binary->bytes.size)
        return report_binary(binary, "images, which overlap,", entry->image, size);
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
        return report_binary(binary, "entries", binary->header.entries,
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
