/* hostobj.c: host ELF files. Damage and malice cost no more than reading the headers. */
#include "input/hostobj.h"

#include "base/elf_file.h"
#include "diag/diag.h"
#include "input/offload.h"

#define GCC_BYTECODE ".gnu.offload_lto_.opts"
#define GCC_KERNELS  ".gnu.offload_funcs"

static bool report_damaged_object(const char *name, const char *what)
{
    return diag_error("Could not find fatbin in '%s': the ELF file is damaged: %s", name, what);
}

/* 32-bit and big-endian machines, for which there is no device code. */
static bool is_other_machines(struct bytes data)
{
    return data.size > EI_DATA &&
           (data.data[EI_CLASS] == ELFCLASS32 || data.data[EI_DATA] == ELFDATA2MSB);
}

static bool open_object(struct elf_file *object, const char *name, struct bytes data)
{
    if (!elf_file_open(object, data))
        return is_other_machines(data) || report_damaged_object(name, "its header cannot be read");
    if (!elf_file_find_sections(object))
        return diag_error(
            "Could not find fatbin in '%s': the ELF file is cut off: its section headers are at "
            "offset %llu, but it has %zu bytes",
            name, (unsigned long long)object->header.e_shoff, data.size);
    return object->sections.size == 0 || object->names.size > 0 ||
           report_damaged_object(name, "its section names cannot be read");
}

/* Visits the sections of one name. *total is the size of all so far: sections that overlap could
 * multiply a small file's contents without limit. */
static bool visit_sections(const struct elf_file *object, const char *file, const char *name,
                           hostobj_visit *visit, void *argument, size_t *total)
{
    size_t at = sizeof(Elf64_Shdr); /* after the one that is for no section */
    Elf64_Shdr section;
    bool ok = true;

    while (elf_file_next(object, &at, &section)) {
        struct bytes contents;

        if (!elf_file_has_name(object, &section, name))
            continue;
        if (!elf_file_contents(object, &section, &contents)) {
            ok = diag_error(
                "Could not find fatbin in '%s': the section at offset %llu has %llu bytes, but "
                "the file has %zu",
                file, (unsigned long long)section.sh_offset, (unsigned long long)section.sh_size,
                object->data.size);
        } else if (contents.size > object->data.size - *total) {
            ok = report_damaged_object(file, "its sections overlap");
        } else {
            *total += contents.size;
            if (!visit(argument, name, contents))
                return false;
        }
    }
    return ok;
}

bool hostobj_walk_names(const char *name, struct bytes data, const char *const *wanted,
                        size_t count, hostobj_visit *visit, void *argument)
{
    struct elf_file object;
    size_t total = 0;

    if (!open_object(&object, name, data))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!visit_sections(&object, name, wanted[i], visit, argument, &total))
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
