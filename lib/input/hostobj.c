/* hostobj.c: host ELF files, by libelf.
 *
 * libelf gives the section headers; names and contents are then looked up through the bounds gate,
 * in constant time per section, so that neither damage nor malice costs more than reading the
 * headers. */
#include "input/hostobj.h"

#include <gelf.h>
#include <libelf.h>

#include "base/context.h"
#include "diag/diag.h"
#include "input/offload.h"
#include "os/elf_library.h"

#define GCC_BYTECODE ".gnu.offload_lto_.opts"
#define GCC_KERNELS  ".gnu.offload_funcs"

/* An opened ELF file. */
struct object {
    const char *name; /* for messages */
    struct bytes data;
    Elf *elf;
    size_t section_count;
    struct bytes names; /* section name string table */
};

static void close_object(void *argument)
{
    elf_end(((struct object *)argument)->elf);
}

static bool report_damaged_object(const struct object *object, const char *what)
{
    elf_library_failure();
    if (object->name)
        diag_error("Could not find fatbin in '%s': the ELF file is damaged: %s", object->name,
                   what);
    return false;
}

/* If the section headers lie beyond the end of a truncated file, libelf finds no sections and
 * reports nothing. */
static bool check_headers(struct object *object)
{
    size_t size = gelf_fsize(object->elf, ELF_T_SHDR, 1, EV_CURRENT);
    GElf_Ehdr header;
    struct bytes part;

    if (!gelf_getehdr(object->elf, &header))
        return report_damaged_object(object, "its header cannot be read");
    if (header.e_shoff == 0)
        return true;
    if (bytes_slice(object->data, header.e_shoff, size, &part) &&
        elf_getshdrnum(object->elf, &object->section_count) == 0 && object->section_count > 0 &&
        bytes_slice(object->data, header.e_shoff, object->section_count * size, &part))
        return true;
    elf_library_failure();
    return diag_error(
        "Could not find fatbin in '%s': the ELF file is cut off: its section headers are at "
        "offset %llu, but it has %zu bytes",
        object->name, (unsigned long long)header.e_shoff, object->data.size);
}

static bool open_object(struct object *object)
{
    GElf_Shdr strings;
    size_t index;

    elf_library_begin();
    /* libelf only reads a memory image that was opened like this. */
    object->elf = elf_memory((char *)(uintptr_t)object->data.data, object->data.size);
    if (!object->elf || elf_kind(object->elf) != ELF_K_ELF)
        return report_damaged_object(object, "its header cannot be read");
    if (!check_headers(object))
        return false;
    if (object->section_count == 0)
        return true;
    if (elf_getshdrstrndx(object->elf, &index) != 0 ||
        !gelf_getshdr(elf_getscn(object->elf, index), &strings) ||
        !bytes_slice(object->data, strings.sh_offset, strings.sh_size, &object->names))
        return report_damaged_object(object, "its section names cannot be read");
    return true;
}

static bool section_has_name(const struct object *object, const GElf_Shdr *header, const char *name)
{
    struct bytes part;
    size_t size = strlen(name) + 1;

    return bytes_slice(object->names, header->sh_name, size, &part) &&
           memcmp(part.data, name, size) == 0;
}

/* Checks one fatbin section. *total is the size of all so far: sections that overlap could multiply
 * a small file's contents without limit. */
static bool find_fatbin_section(const struct object *object, const GElf_Shdr *header, size_t *total,
                                struct bytes *contents)
{
    if (header->sh_type == SHT_NOBITS ||
        !bytes_slice(object->data, header->sh_offset, header->sh_size, contents))
        return diag_error(
            "Could not find fatbin in '%s': the section at offset %llu has %llu bytes, but "
            "the file has %zu",
            object->name, (unsigned long long)header->sh_offset,
            (unsigned long long)header->sh_size, object->data.size);
    if (contents->size > object->data.size - *total)
        return report_damaged_object(object, "its sections overlap");
    *total += contents->size;
    return true;
}

static bool visit_sections(const struct object *object, const char *name, hostobj_visit *visit,
                           void *argument, size_t *total)
{
    bool ok = true;

    for (size_t i = 1; i < object->section_count; i++) {
        GElf_Shdr header;
        struct bytes contents;

        if (!gelf_getshdr(elf_getscn(object->elf, i), &header))
            return report_damaged_object(object, "a section header cannot be read");
        if (!section_has_name(object, &header, name))
            continue;
        if (!find_fatbin_section(object, &header, total, &contents))
            ok = false;
        else if (!visit(argument, name, contents))
            return false;
    }
    return ok;
}

bool hostobj_walk_names(const char *name, struct bytes data, const char *const *wanted,
                        size_t count, hostobj_visit *visit, void *argument)
{
    struct object object = {.name = name, .data = data};
    size_t total = 0;

    CONTEXT_DEFER(close_object, &object);
    if (!open_object(&object))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!visit_sections(&object, wanted[i], visit, argument, &total))
            return false;
    return true;
}

bool hostobj_walk(const char *name, struct bytes data, hostobj_visit *visit, void *argument)
{
    static const char *const sections[] = {"__nv_relfatbin", ".nv_fatbin", OFFLOAD_SECTION};

    return hostobj_walk_names(name, data, sections, sizeof sections / sizeof *sections, visit,
                              argument);
}

/* What GCC's objects and executables have. */
struct gcc_sections {
    bool has_bytecode, has_kernels;
    struct bytes constants;
};

static bool note_gcc_section(void *argument, const char *section, struct bytes data)
{
    struct gcc_sections *sections = argument;

    if (strcmp(section, GCC_BYTECODE) == 0)
        sections->has_bytecode = true;
    else if (strcmp(section, GCC_KERNELS) == 0)
        sections->has_kernels = true;
    else
        sections->constants = data;
    return true;
}

bool hostobj_walk_gcc(const char *name, struct bytes data, hostobj_visit_text *visit,
                      void *argument, bool *has_bytecode)
{
    static const char *const wanted[] = {GCC_BYTECODE, GCC_KERNELS, ".rodata"};
    static const char begin[] = "// BEGIN PREAMBLE\n.version";
    struct gcc_sections found = {0};
    const char *at, *end;

    if (!hostobj_walk_names(name, data, wanted, sizeof wanted / sizeof *wanted, note_gcc_section,
                            &found))
        return false;
    *has_bytecode = found.has_bytecode;
    if (found.constants.size == 0)
        return true;
    at = (const char *)found.constants.data;
    end = at + found.constants.size;
    while (found.has_kernels && (at = memmem(at, (size_t)(end - at), begin, sizeof begin - 1))) {
        size_t size = strnlen(at, (size_t)(end - at));

        if (!visit(argument, (struct text){at, size}))
            return false;
        at += size;
    }
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
    struct object object = {.data = data};
    struct bytes dynamic = {0};
    GElf_Ehdr header;
    size_t count;
    bool shared = false;

    elf_library_begin();
    CONTEXT_DEFER(close_object, &object);
    object.elf = elf_memory((char *)(uintptr_t)data.data, data.size);
    if (object.elf && gelf_getehdr(object.elf, &header) && header.e_type == ET_DYN &&
        elf_getphdrnum(object.elf, &count) == 0) {
        shared = true;
        for (size_t i = 0; i < count && shared; i++) {
            GElf_Phdr segment;

            if (!gelf_getphdr(object.elf, (int)i, &segment))
                break;
            if (segment.p_type == PT_INTERP)
                shared = false;
            else if (segment.p_type == PT_DYNAMIC && !dynamic.data)
                bytes_slice(data, segment.p_offset, segment.p_filesz, &dynamic);
        }
    }
    elf_library_failure();
    return shared && !has_pie_flag(dynamic);
}
