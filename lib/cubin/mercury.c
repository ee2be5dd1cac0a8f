/* mercury.c: Mercury's symbol table, compared with the plain one, and which sections are twins. */
#include "cubin/mercury.h"

#include <string.h>

#include "cubin/format.h"
#include "diag/diag.h"

bool cubin_twins_find(const struct cubin *cubin, struct cubin_twins *twins)
{
    bool found = false;

    *twins = (struct cubin_twins){0};
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];

        found = found || cubin_is_mercury(section);
        if (section->type == SHT_CUDA_MERC_SYMTAB && section->entry_size == sizeof(Elf64_Sym))
            twins->symtab = i;
        if (section->type == SHT_SYMTAB_SHNDX && cubin_is_mercury(section))
            twins->indices = i;
    }
    return found;
}

Elf64_Sym cubin_twin_symbol(const struct cubin *cubin, const struct cubin_twins *twins,
                            uint32_t index)
{
    struct bytes table = cubin->sections[twins->symtab].data;
    Elf64_Sym symbol = {0};

    if (index < table.size / sizeof symbol)
        memcpy(&symbol, table.data + index * sizeof symbol, sizeof symbol);
    return symbol;
}

uint32_t cubin_twin_section(const struct cubin *cubin, const struct cubin_twins *twins,
                            uint32_t index)
{
    uint16_t section = cubin_twin_symbol(cubin, twins, index).st_shndx;
    struct bytes table = cubin->sections[twins->indices].data;
    Elf32_Word extended;

    if (section < SHN_LORESERVE)
        return section;
    if (section != SHN_XINDEX || index >= table.size / sizeof extended)
        return SECTION_SPECIAL | section;
    memcpy(&extended, table.data + index * sizeof extended, sizeof extended);
    return extended;
}

/* True if symbol i means the same in both tables. */
static bool are_parallel(const struct cubin *cubin, const struct cubin_twins *twins)
{
    const struct cubin_section *table = &cubin->sections[twins->symtab];
    size_t count = table->size / sizeof(Elf64_Sym);

    if (!twins->symtab || !cubin->symtab || count > cubin->symbol_count ||
        table->link != cubin->sections[cubin->symtab].link)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];
        Elf64_Sym twin = cubin_twin_symbol(cubin, twins, i);

        if (ELF64_ST_TYPE(twin.st_info) != symbol->type ||
            (symbol->type != STT_SECTION &&
             !text_equal(cubin_string(cubin, twin.st_name), symbol->name)))
            return false;
        if (symbol->section < cubin->section_count &&
            cubin_twin_section(cubin, twins, i) >= cubin->section_count)
            return false;
    }
    return true;
}

uint32_t cubin_twin_code(const struct cubin *cubin, const struct cubin_section *section)
{
    uint32_t code;

    if (section->type != SHT_CUDA_CAPMERC && (section->flags & SHF_INFO_LINK))
        section = &cubin->sections[section->info];
    if (section->type != SHT_CUDA_CAPMERC || section->info == 0 ||
        section->info >= cubin->symbol_count || section->size < CUBIN_TWIN_CODE_HEADER)
        return 0;
    code = cubin->symbols[section->info].section;
    return code < cubin->section_count && cubin_is_text(&cubin->sections[code]) &&
                   cubin_section_function(cubin, code) == section->info
               ? code
               : 0;
}

bool cubin_twin_is_owned(const struct cubin_section *section)
{
    return section->type == SHT_CUDA_CAPMERC ||
           ((section->flags & SHF_INFO_LINK) && section->type != SHT_CUDA_MERC_RELA &&
            cubin_is_mercury(section));
}

const char *cubin_twins_check(const struct cubin *cubin, const struct cubin_twins *twins)
{
    size_t codes = 0;

    if (!are_parallel(cubin, twins))
        return "it has no matching symbols for them";
    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];

        codes += cubin_is_text(section);
        if (!cubin_is_mercury(section))
            continue;
        codes -= section->type == SHT_CUDA_CAPMERC;
        if (cubin_twin_is_owned(section) && !cubin_twin_code(cubin, section))
            return "there is a section of no function";
    }
    return codes == 0 ? NULL : "not every function has a twin";
}

void cubin_twins_leave_out(const struct cubin *cubin, const char *why)
{
    diag_caution("Mercury sections of '%s' and other inputs are not carried over (%s); the "
                 "output runs on its own target only",
                 cubin->name, why);
}

bool cubin_twins_pair(const struct cubin *cubin, const struct cubin_twins *twins, uint32_t index,
                      uint32_t *plain, uint32_t *twin)
{
    *plain = cubin->symbols[index].section;
    if (*plain >= cubin->section_count)
        return false;
    *twin = cubin_twin_section(cubin, twins, index);
    return *twin < cubin->section_count && cubin_is_mercury(&cubin->sections[*twin]) &&
           !cubin_is_mercury(&cubin->sections[*plain]);
}
