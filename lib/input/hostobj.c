/* hostobj.c: host ELF files. Damage and malice cost no more than reading the headers. */
#include "input/hostobj.h"

#include "diag/diag.h"

static bool report_damaged_object(struct hostobj *object, const char *what)
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
        report_damaged_object(object, "its header cannot be read");
    } else if (!elf_file_find_sections(file)) {
        object->is_damaged = true;
        diag_error(
            "Could not find fatbin in '%s': the ELF file is cut off: its section headers are at "
            "offset %llu, but it has %zu bytes",
            name, (unsigned long long)file->header.e_shoff, data.size);
    } else if (file->section_count > 0 && file->names.size == 0) {
        report_damaged_object(object, "its section names cannot be read");
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
            report_damaged_object(object, "its sections overlap");
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
