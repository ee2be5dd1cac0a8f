/* hostobj.c: host ELF files. Damage and malice cost no more than reading the headers. */
#include "input/hostobj.h"

#include "diag/diag.h"

/* Behind the header that is for no section. */
#define FIRST_SECTION sizeof(Elf64_Shdr)

static bool report_damaged_object(struct hostobj *object, const char *what)
{
    object->is_damaged = true;
    return diag_error("Could not find fatbin in '%s': the ELF file is damaged: %s", object->name,
                      what);
}

/* 32-bit and big-endian machines, for which there is no device code. */
static bool is_other_machines(struct bytes data)
{
    return data.size > EI_DATA &&
           (data.data[EI_CLASS] == ELFCLASS32 || data.data[EI_DATA] == ELFDATA2MSB);
}

void hostobj_open(struct hostobj *object, const char *name, struct bytes data)
{
    struct elf_file *file = &object->file;

    *object = (struct hostobj){.name = name, .at = FIRST_SECTION};
    if (!elf_file_open(file, data)) {
        if (!is_other_machines(data))
            report_damaged_object(object, "its header cannot be read");
    } else if (!elf_file_find_sections(file)) {
        object->is_damaged = true;
        diag_error(
            "Could not find fatbin in '%s': the ELF file is cut off: its section headers are at "
            "offset %llu, but it has %zu bytes",
            name, (unsigned long long)file->header.e_shoff, data.size);
    } else if (file->sections.size > 0 && file->names.size == 0) {
        report_damaged_object(object, "its section names cannot be read");
    }
}

/* Sections that overlap could multiply a small file's contents without limit. */
bool hostobj_next(struct hostobj *object, const char *section, struct bytes *contents)
{
    const struct elf_file *file = &object->file;
    Elf64_Shdr header;

    if (object->is_damaged && object->at == FIRST_SECTION)
        return false;
    while (elf_file_next(file, &object->at, &header)) {
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
            report_damaged_object(object, "its sections overlap");
        } else {
            object->total += contents->size;
            return true;
        }
    }
    object->at = FIRST_SECTION;
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
    struct elf_file object;
    struct bytes dynamic = {0}, segments;
    Elf64_Phdr segment;

    if (!elf_file_open(&object, data) || object.header.e_type != ET_DYN ||
        !bytes_slice(data, object.header.e_phoff, object.header.e_phnum * sizeof segment,
                     &segments))
        return false;
    for (size_t at = 0; at < segments.size; at += sizeof segment) {
        memcpy(&segment, segments.data + at, sizeof segment);
        if (segment.p_type == PT_INTERP)
            return false;
        if (segment.p_type == PT_DYNAMIC && !dynamic.data)
            bytes_slice(data, segment.p_offset, segment.p_filesz, &dynamic);
    }
    return !has_pie_flag(dynamic);
}
