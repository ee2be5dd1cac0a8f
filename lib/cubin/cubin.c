/* cubin.c: of which kind a section is, and which function's: type, flags and sh_info say so; only
 * what has no such mark is found by its name. */
#include "cubin/cubin.h"

#include "cubin/format.h"

void cubin_free(struct cubin *cubin)
{
    arena_free(&cubin->arena);
    *cubin = (struct cubin){0};
}

uint32_t cubin_section_find(const struct cubin *cubin, struct text name)
{
    for (size_t i = 1; i < cubin->section_count; i++)
        if (text_equal(cubin->sections[i].name, name))
            return (uint32_t)i;
    return 0;
}

bool cubin_names_section(const struct cubin *cubin, const struct cubin_symbol *symbol)
{
    return symbol->type == STT_SECTION && symbol->section < cubin->section_count;
}

bool cubin_has_section(const struct cubin *cubin, uint32_t section)
{
    return section != SHN_UNDEF && section < cubin->section_count;
}

bool cubin_is_text(const struct cubin_section *section)
{
    return section->type == SHT_PROGBITS && (section->flags & SHF_EXECINSTR) != 0 &&
           !cubin_is_mercury(section);
}

uint32_t cubin_section_function(const struct cubin *cubin, uint32_t index)
{
    const struct cubin_section *section = &cubin->sections[index];

    if (!cubin_is_text(section) && (section->flags & SHF_INFO_LINK) && !cubin_is_mercury(section) &&
        section->info < cubin->section_count)
        section = &cubin->sections[section->info];
    /* The high byte is the register count of architectures before sm_90. */
    return cubin_is_text(section) ? section->info & 0xffffffu : 0;
}

struct text cubin_string(const struct cubin *cubin, uint64_t offset)
{
    if (offset >= cubin->strings.size)
        return (struct text){0};
    return text_of((const char *)cubin->strings.data + offset);
}
