/* read_names.c: what sections are called follows from their type and the section they belong to
 * (measured, ptxas 12 and 13). Names decide what becomes of a section, in the merge and in the
 * driver, so that one which does not fit is damage. */
#include "cubin/format.h"
#include "cubin/read.h"

#define CODE TEXT(".text.")

/* The beginning of the name of a section of that type that belongs to another. Empty when it is not
 * known. */
static struct text prefix_of(uint32_t type)
{
    static const char *const banks[] = {".nv.constant0", ".nv.constant1", ".nv.constant2",
                                        ".nv.constant3", ".nv.constant4"};

    if (type >= SHT_CUDA_CONSTANT0 && type - SHT_CUDA_CONSTANT0 < sizeof banks / sizeof *banks)
        return text_of(banks[type - SHT_CUDA_CONSTANT0]);
    switch (type) {
    case SHT_RELA:
        return TEXT(".rela");
    case SHT_REL:
        return TEXT(".rel");
    case SHT_CUDA_INFO:
        return TEXT(".nv.info");
    case SHT_CUDA_SHARED:
        return TEXT(".nv.shared");
    default:
        return (struct text){0};
    }
}

/* The section that `section` belongs to, of which it is known that it exists; NULL = none, or one
 * of Mercury's, which have rules of their own. */
static const struct cubin_section *owner_of(const struct cubin *cubin,
                                            const struct cubin_section *section)
{
    bool is_relocation = section->type == SHT_RELA || section->type == SHT_REL;

    if ((!is_relocation && !(section->flags & SHF_INFO_LINK)) ||
        (cubin->sections[section->info].flags & SHF_CUDA_MERCURY))
        return NULL;
    return &cubin->sections[section->info];
}

/* Relocations have all of their section's name, what else belongs to code the function's. */
static bool is_named_after(const struct cubin_section *section, const struct cubin_section *owner)
{
    bool is_relocation = section->type == SHT_RELA || section->type == SHT_REL;
    struct text prefix = prefix_of(section->type), end = owner->name, name = section->name;

    if (!is_relocation && !text_starts(owner->name, CODE))
        return true;
    if (!is_relocation) {
        end.data += CODE.size - 1;
        end.size -= CODE.size - 1;
    }
    if (prefix.size == 0)
        return text_ends(name, end);
    return text_skip(&name, prefix) && text_equal(name, end);
}

/* nvlink calls a section of code as its function is called. In linked code, functions may have got
 * other names. */
static bool check_code(const struct reader *reader, size_t index)
{
    const struct cubin *cubin = reader->cubin;
    const struct cubin_section *section = &cubin->sections[index];
    struct text name = section->name;
    uint32_t function;

    if (section->type != SHT_PROGBITS || !(section->flags & SHF_EXECINSTR))
        return true;
    if (!text_skip(&name, CODE))
        return read_damaged(reader, READ_SECTION " holds code, whose name begins with .text.",
                            READ_SECTION_ARG(reader, index));
    function = cubin_section_function(cubin, (uint32_t)index);
    return cubin->type == ET_EXEC || function == 0 ||
           text_equal(name, cubin->symbols[function].name) ||
           read_damaged(reader, READ_SECTION " holds function '%.*s'",
                        READ_SECTION_ARG(reader, index), TEXT_ARG(cubin->symbols[function].name));
}

/* nvlink goes by the name. */
static bool check_type(const struct reader *reader, size_t index)
{
    const struct cubin_section *section = &reader->cubin->sections[index];

    if (!text_starts(section->name, TEXT(".nv.info")))
        return true;
    if (section->type != SHT_CUDA_INFO)
        return read_damaged(reader, READ_SECTION " has type %#x, expected %#x",
                            READ_SECTION_ARG(reader, index), section->type, SHT_CUDA_INFO);
    return section->info == 0 || !text_equal(section->name, TEXT(".nv.info")) ||
           read_damaged(reader, READ_SECTION " belongs to section %u, expected none",
                        READ_SECTION_ARG(reader, index), section->info);
}

static bool check_owner(const struct reader *reader, size_t index)
{
    const struct cubin_section *section = &reader->cubin->sections[index];
    const struct cubin_section *owner = owner_of(reader->cubin, section);

    return !owner || is_named_after(section, owner) ||
           read_damaged(reader,
                        READ_SECTION " of type %#x has a name that does not fit section %u "
                                     "(%.*s), to which it belongs",
                        READ_SECTION_ARG(reader, index), section->type, section->info,
                        TEXT_ARG(owner->name));
}

bool read_check_names(const struct reader *reader)
{
    size_t count = reader->cubin->section_count;

    for (size_t i = 1; i < count; i++)
        if (!check_code(reader, i) || !check_type(reader, i))
            return false;
    for (size_t i = 1; i < count; i++)
        if (!check_owner(reader, i))
            return false;
    return true;
}
