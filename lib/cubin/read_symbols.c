/* read_symbols.c: the symbol table and the relocations of a cubin: arrays of fixed records, each
 * decoded in one pass. */
#include <inttypes.h>

#include "cubin/internal.h"

#define SYMBOL_SIZE sizeof(Elf64_Sym)

_Static_assert(sizeof(struct cubin_relocation) == sizeof(Elf64_Rela), "they are the same");

static Elf64_Sym symbol_record(struct bytes table, size_t index)
{
    Elf64_Sym record;

    memcpy(&record, table.data + index * SYMBOL_SIZE, SYMBOL_SIZE);
    return record;
}

/* Checks the shape of section `index`, a symbol table, and finds its strings. */
static bool check_symbol_table(const struct reader *reader, size_t index, struct bytes *strings)
{
    const struct cubin_section *section = &reader->cubin->sections[index];
    const struct cubin_section *table = &reader->cubin->sections[section->link];

    if (section->entry_size != SYMBOL_SIZE || section->size % SYMBOL_SIZE != 0 ||
        section->size == 0)
        return READ_BAD_SECTION(reader, index,
                                "has %" PRIu64 " bytes in symbols of %" PRIu64
                                ", expected symbols of %zu",
                                section->size, section->entry_size, SYMBOL_SIZE);
    if (section->info > section->size / SYMBOL_SIZE)
        return READ_BAD_SECTION(reader, index, "says that %u of its %" PRIu64 " symbols are local",
                                section->info, section->size / SYMBOL_SIZE);
    if (table->type != SHT_STRTAB || table->data.size == 0 ||
        table->data.data[table->data.size - 1] != '\0')
        return READ_BAD_SECTION(reader, index, "is linked to section %u, which is no string table",
                                section->link);
    *strings = table->data;
    return true;
}

static bool is_alignment(uint64_t value)
{
    return value != 0 && value <= READ_LARGEST_ALIGNMENT && (value & (value - 1)) == 0;
}

#define BAD_SYMBOL(reader, index, format, ...)                                                     \
    read_damaged(reader, "symbol %zu (%.*s) " format, index,                                       \
                 TEXT_ARG((reader)->cubin->symbols[index].name), ##__VA_ARGS__)

/* Checks that a symbol defined in a section lies within it. */
static bool check_definition(const struct reader *reader, size_t index)
{
    const struct cubin_symbol *symbol = &reader->cubin->symbols[index];
    const struct cubin_section *section = &reader->cubin->sections[symbol->section];

    if (symbol->type == STT_SECTION)
        return true;
    /* The link rewrites .debug_frame without the frames of removed functions. */
    if (cubin_is_kind(section, KIND_FRAMES))
        return BAD_SYMBOL(reader, index, "stands in " READ_SECTION ", where none can",
                          READ_SECTION_ARG(reader, symbol->section));
    if (section->type == SHT_CUDA_SHARED || section->type == SHT_CUDA_RESERVED_SHARED) {
        /* Before the link a shared object's value is its alignment (measured). */
        if (!is_alignment(symbol->value))
            return BAD_SYMBOL(reader, index, "has alignment %" PRIu64, symbol->value);
        if (symbol->size > section->size)
            return BAD_SYMBOL(reader, index,
                              "has %" PRIu64 " bytes in " READ_SECTION " of %" PRIu64, symbol->size,
                              READ_SECTION_ARG(reader, symbol->section), section->size);
        return true;
    }
    /* nvlink -g leaves dynamic shared arrays, which have no size, past the end of their section. */
    if (section->has_no_bytes && symbol->size == 0)
        return true;
    if (symbol->value > section->size || symbol->size > section->size - symbol->value)
        return BAD_SYMBOL(
            reader, index,
            "has %" PRIu64 " bytes at byte %" PRIu64 " of " READ_SECTION ", which has %" PRIu64,
            symbol->size, symbol->value, READ_SECTION_ARG(reader, symbol->section), section->size);
    return true;
}

static bool check_symbol(const struct reader *reader, size_t index)
{
    const struct cubin_symbol *symbol = &reader->cubin->symbols[index];

    if (symbol->binding > STB_WEAK)
        return BAD_SYMBOL(reader, index, "has binding %u, expected 0 to 2", symbol->binding);
    if (symbol->size > READ_LARGEST_OBJECT)
        return BAD_SYMBOL(reader, index, "has %" PRIu64 " bytes", symbol->size);
    switch (symbol->section) {
    case SECTION_ABSOLUTE:
        return true;
    case SHN_UNDEF:
        /* Of a dynamic shared array ptxas 13.1 and later write the alignment; earlier ones 0. */
        if ((symbol->other & STO_CUDA_SPACE) != STO_CUDA_SHARED || symbol->value == 0)
            return true;
        /* fall through */
    case SECTION_COMMON:
        if (!is_alignment(symbol->value))
            return BAD_SYMBOL(reader, index, "has alignment %" PRIu64, symbol->value);
        return true;
    default:
        if (symbol->section == (SECTION_SPECIAL | SHN_XINDEX))
            return BAD_SYMBOL(reader, index, "has no extended section index");
        if (symbol->section >= reader->cubin->section_count)
            return BAD_SYMBOL(reader, index, "stands in section %u of %zu", symbol->section,
                              reader->cubin->section_count);
        return check_definition(reader, index);
    }
}

/* Measured: the value of this symbol of nvlink -r 13.0 to 13.5 is the address that some kernels'
 * dynamic shared arrays had in its link, a multiple of their alignment. Each such address has a
 * symbol of the same name. Linking the result again, nvlink takes it for the alignment (48). */
bool cubin_is_shared_instance(const struct cubin_symbol *symbol)
{
    return symbol->section == SHN_UNDEF && (symbol->other & STO_CUDA_SPACE) == STO_CUDA_SHARED &&
           text_equal(symbol->name, TEXT("externsharedinstance"));
}

static bool read_symbol(struct reader *reader, struct bytes table, size_t index)
{
    struct cubin *cubin = reader->cubin;
    struct cubin_symbol *symbol = &cubin->symbols[index];
    Elf64_Sym record = symbol_record(table, index);

    *symbol = (struct cubin_symbol){
        .value = record.st_value,
        .size = record.st_size,
        .type = ELF64_ST_TYPE(record.st_info),
        .binding = ELF64_ST_BIND(record.st_info),
        .other = record.st_other,
        .section = cubin_symbol_section(reader->indices, index, record.st_shndx),
    };
    if (!read_name(reader, cubin->strings, record.st_name, &symbol->name))
        return read_damaged(reader, "the name of symbol %zu stands at byte %u of %zu", index,
                            record.st_name, cubin->strings.size);
    /* Measured: nvlink -r leaves dynamic shared arrays, which have no size, without their
     * alignment; the kernels' sections still have it. */
    if (cubin_has_section(cubin, symbol->section) && symbol->size == 0 && symbol->value == 0 &&
        cubin->sections[symbol->section].type == SHT_CUDA_SHARED && symbol->type != STT_SECTION)
        symbol->value = 1;
    if (cubin_is_shared_instance(symbol))
        symbol->value &= -symbol->value;
    if (!check_symbol(reader, index))
        return false;
    if (symbol->type == STT_SECTION && symbol->name.size == 0 &&
        symbol->section < cubin->section_count)
        symbol->name = cubin->sections[symbol->section].name;
    return true;
}

/* Checks the names and sections of Mercury's own symbol table, which is not decoded. */
static bool check_mercury_symbols(struct reader *reader, size_t index)
{
    struct bytes table = reader->cubin->sections[index].data;
    struct bytes strings;

    if (!check_symbol_table(reader, index, &strings))
        return false;
    for (size_t i = 0; i < table.size / SYMBOL_SIZE; i++) {
        Elf64_Sym record = symbol_record(table, i);
        struct text name;

        if (!read_name(reader, strings, record.st_name, &name))
            return read_damaged(reader, "the name of Mercury symbol %zu stands at byte %u of %zu",
                                i, record.st_name, strings.size);
        if (record.st_shndx < SHN_LORESERVE && record.st_shndx >= reader->cubin->section_count)
            return read_damaged(reader, "Mercury symbol %zu (%.*s) stands in section %u of %zu", i,
                                TEXT_ARG(name), record.st_shndx, reader->cubin->section_count);
    }
    return true;
}

static bool find_symbol_tables(struct reader *reader)
{
    struct cubin *cubin = reader->cubin;

    for (uint32_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        bool is_mercury = cubin_is_mercury(section);

        cubin->has_twins |= is_mercury;
        if (section->type == SHT_SYMTAB && cubin->symtab)
            return read_damaged(reader, "sections %u and %u are both symbol tables", cubin->symtab,
                                i);
        if (section->type == SHT_SYMTAB && (section->flags & SHF_INFO_LINK))
            return READ_BAD_SECTION(reader, i, "is a symbol table that belongs to a section");
        if (section->type == SHT_CUDA_MERC_SYMTAB && !check_mercury_symbols(reader, i))
            return false;
        if (section->type == SHT_SYMTAB)
            cubin->symtab = i;
        else if (section->type == SHT_CUDA_MERC_SYMTAB)
            cubin->twin_symtab = i;
        else if (section->type == SHT_SYMTAB_SHNDX && is_mercury)
            cubin->twin_indices = i;
    }
    return true;
}

bool read_symbols(struct reader *reader)
{
    struct cubin *cubin = reader->cubin;
    struct bytes table;

    if (!find_symbol_tables(reader))
        return false;
    if (!cubin->symtab) {
        cubin->symbols = arena_zalloc(&cubin->arena, 1, sizeof *cubin->symbols);
        cubin->symbol_count = 1;
        return true;
    }
    if (!check_symbol_table(reader, cubin->symtab, &cubin->strings))
        return false;
    table = cubin->sections[cubin->symtab].data;
    cubin->symbol_count = table.size / SYMBOL_SIZE;
    cubin->symbols = arena_alloc(&cubin->arena, cubin->symbol_count, sizeof *cubin->symbols);
    for (size_t i = 1; i < cubin->section_count; i++)
        if (cubin->sections[i].type == SHT_SYMTAB_SHNDX && cubin->sections[i].link == cubin->symtab)
            reader->indices = cubin->sections[i].data;
    for (size_t i = 0; i < cubin->symbol_count; i++)
        if (!read_symbol(reader, table, i))
            return false;
    if (cubin->symbols[0].name.size || cubin->symbols[0].type || cubin->symbols[0].section)
        return read_damaged(reader, "its first symbol is not the null symbol");
    return true;
}

/* Checks the header of relocation section `index` and its target. */
static bool check_relocation_section(const struct reader *reader, size_t index)
{
    const struct cubin *cubin = reader->cubin;
    const struct cubin_section *section = &cubin->sections[index];
    size_t wanted = section->type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
    uint32_t table = section->type == SHT_CUDA_MERC_RELA ? SHT_CUDA_MERC_SYMTAB : SHT_SYMTAB;
    const struct cubin_section *target;

    if (section->entry_size != wanted || section->size % wanted != 0 ||
        section->size / wanted > UINT32_MAX)
        return READ_BAD_SECTION(reader, index,
                                "has %" PRIu64 " bytes in records of %" PRIu64
                                ", expected records of %zu",
                                section->size, section->entry_size, wanted);
    /* Measured: ptxas 12.0 to 12.2 links those of a whole program to section 5, whatever it is. */
    if (cubin->sections[section->link].type != table && !(cubin->toolkit && cubin->type == ET_EXEC))
        return READ_BAD_SECTION(reader, index, "is linked to section %u, which is no symbol table",
                                section->link);
    if (section->info == 0 || section->info >= cubin->section_count)
        return READ_BAD_SECTION(reader, index, "relocates section %u of %zu", section->info,
                                cubin->section_count);
    target = &cubin->sections[section->info];
    if (section->size &&
        (target->has_no_bytes || target->type == SHT_SYMTAB || target->type == SHT_STRTAB ||
         target->type == SHT_RELA || target->type == SHT_REL))
        return READ_BAD_SECTION(reader, index,
                                "relocates " READ_SECTION ", which cannot be relocated",
                                READ_SECTION_ARG(reader, section->info));
    return true;
}

static bool check_relocation(const struct reader *reader, size_t index, size_t entry)
{
    const struct cubin *cubin = reader->cubin;
    const struct cubin_section *section = &cubin->sections[index];
    const struct cubin_section *target = &cubin->sections[section->info];
    const struct cubin_relocation *relocation = &section->relocations[entry];
    const struct relocation_facts *facts = relocation_types_find(relocation->type);
    uint64_t size = cubin_is_text(target) ? 16 : facts->bytes;

    if (relocation->offset > target->size || size > target->size - relocation->offset)
        return read_damaged(
            reader, "record %zu of " READ_SECTION " is for byte %" PRIu64 " of %" PRIu64, entry,
            READ_SECTION_ARG(reader, index), relocation->offset, target->size);
    if ((relocation->symbol == 0 && facts->action != RELOCATION_IGNORED) ||
        relocation->symbol >= cubin->symbol_count)
        return read_damaged(reader, "record %zu of " READ_SECTION " refers to symbol %u of %zu",
                            entry, READ_SECTION_ARG(reader, index), relocation->symbol,
                            cubin->symbol_count);
    return true;
}

/* Copies the section's records: the file may change after they have been checked. Mercury's that
 * name a symbol that there is not name none. */
static const struct cubin_relocation *copy_relocations(const struct reader *reader,
                                                       const struct cubin_section *section)
{
    bool is_mercury = section->type == SHT_CUDA_MERC_RELA;
    size_t symbols = is_mercury ? reader->cubin->symbol_count : SIZE_MAX;
    size_t step = section->entry_size, count = section->relocation_count;
    struct cubin_relocation *copy = arena_zalloc(&reader->cubin->arena, count, sizeof *copy);

    for (size_t i = 0; i < count; i++) {
        memcpy(&copy[i], section->data.data + i * step, step); /* of Elf64_Rel the beginning */
        if (copy[i].symbol >= symbols)
            copy[i].symbol = 0;
    }
    return copy;
}

bool read_relocations(struct reader *reader)
{
    for (size_t i = 1; i < reader->cubin->section_count; i++) {
        struct cubin_section *section = &reader->cubin->sections[i];

        if (!format_is_relocations(section->type))
            continue;
        if (!check_relocation_section(reader, i))
            return false;
        section->relocation_count = (uint32_t)(section->data.size / section->entry_size);
        section->relocations = copy_relocations(reader, section);
        for (size_t k = 0; section->type != SHT_CUDA_MERC_RELA && k < section->relocation_count;
             k++)
            if (!check_relocation(reader, i, k))
                return false;
    }
    return true;
}
