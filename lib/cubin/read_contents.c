/* read_contents.c: checks every index and string offset in the sections whose contents the merger
 * interprets, and the names of sections. */
#include <inttypes.h>

#include "cubin/internal.h"
#include "diag/diag.h"

bool read_damaged(const struct reader *reader, const char *format, ...)
{
    va_list arguments;
    const char *text;

    va_start(arguments, format);
    text = arena_vprintf(&reader->cubin->arena, format, arguments);
    va_end(arguments);
    return diag_error("'%s' is a damaged cubin: %s", reader->cubin->name, text);
}

bool read_name(struct reader *reader, struct bytes strings, uint64_t offset, struct text *name)
{
    if (offset >= strings.size)
        return false;
    *name = text_of((const char *)strings.data + offset);
    if (name->size > reader->name_budget)
        return false;
    reader->name_budget -= name->size;
    return true;
}

/* .text.F: its sh_info must name F, a function defined in the section. */
static bool check_text(const struct reader *reader, size_t index)
{
    const struct cubin *cubin = reader->cubin;
    uint32_t function = cubin->sections[index].info & 0xffffffu;

    if (function >= cubin->symbol_count || cubin->symbols[function].type != STT_FUNC ||
        cubin->symbols[function].section != index)
        return READ_BAD_SECTION(reader, index, "names symbol %u of %zu as its function", function,
                                cubin->symbol_count);
    return true;
}

static bool check_record(const struct reader *reader, size_t index,
                         const struct info_record *record, bool has_symbols)
{
    size_t words = has_symbols ? info_symbol_words(record) : 0;
    /* Smallest valid payload of the records that the merger interprets. */
    size_t least = attributes_rows[record->attribute].symbols == SYMBOLS_1 ? 8
                   : record->attribute == EIATTR_CRS_STACK_SIZE            ? 4
                                                                           : 0;

    if (record->attribute == 0) /* EIATTR_ERROR */
        return READ_BAD_SECTION(reader, index, "has a record without an attribute");
    if (record->format < EIFMT_NVAL || record->format > EIFMT_SVAL)
        return READ_BAD_SECTION(reader, index, "has a record of format %u, expected 1 to 4",
                                record->format);
    if (has_symbols && record->format == EIFMT_SVAL && record->payload.size < least)
        return READ_BAD_SECTION(reader, index, "has a record %#x of %zu bytes, expected %zu",
                                record->attribute, record->payload.size, least);
    for (size_t i = 0; i < words; i++) {
        uint32_t symbol = info_word(record->payload, i);

        if (symbol == 0 || symbol >= reader->cubin->symbol_count)
            return READ_BAD_SECTION(reader, index, "has a record %#x for symbol %u of %zu",
                                    record->attribute, symbol, reader->cubin->symbol_count);
    }
    return true;
}

/* Checks that records are whole, and that their symbols are valid in .nv.info* and their Mercury
 * twins (not in .nv.compat, which has other attributes). */
static bool check_info(const struct reader *reader, size_t index)
{
    const struct cubin_section *section = &reader->cubin->sections[index];
    struct bytes rest = section->data;
    struct info_record record;

    while (info_next(&rest, &record)) {
        if (!check_record(reader, index, &record, section->type != SHT_CUDA_COMPAT))
            return false;
        reader->cubin->has_unknown_records |= unknown_is_record(section, &record);
    }
    if (rest.size > 0)
        return READ_BAD_SECTION(reader, index, "ends within a record, at byte %zu of %zu",
                                section->data.size - rest.size, section->data.size);
    return true;
}

/* Checks one pair of the call graph or the prototypes: a function's symbol, and a symbol or, by the
 * part, a string. */
static bool check_graph_pair(struct reader *reader, size_t index, size_t entry, int32_t part)
{
    const struct cubin *cubin = reader->cubin;
    struct bytes data = cubin->sections[index].data;
    bool has_string = part == CALLGRAPH_ADDRESS || part == CALLGRAPH_INDIRECT;
    bool is_dropped = cubin->sections[index].type == SHT_CUDA_PROTOTYPE && cubin->toolkit &&
                      cubin->type == ET_EXEC; /* that function may be: TOOLKIT_LISTS_ALIASES */
    uint32_t first = info_word(data, entry * 2);
    uint32_t second = info_word(data, entry * 2 + 1);
    size_t limit = has_string ? cubin->strings.size : cubin->symbol_count;
    struct text name;

    if (part == 0)
        return READ_BAD_SECTION(reader, index, "does not begin with a part's number");
    if ((first == 0 && !is_dropped) || first >= cubin->symbol_count)
        return read_damaged(reader, "entry %zu of " READ_SECTION " is for symbol %u of %zu", entry,
                            READ_SECTION_ARG(reader, index), first, cubin->symbol_count);
    if (has_string ? !read_name(reader, cubin->strings, second, &name)
                   : second == 0 || second >= limit)
        return read_damaged(reader, "entry %zu of " READ_SECTION " refers to %s %u of %zu", entry,
                            READ_SECTION_ARG(reader, index), has_string ? "string byte" : "symbol",
                            second, limit);
    return true;
}

/* The call graph; or prototypes, which are like its part of functions whose address is taken. */
static bool check_graph(struct reader *reader, size_t index)
{
    const struct cubin_section *section = &reader->cubin->sections[index];
    struct bytes data = section->data;
    bool has_parts = section->type == SHT_CUDA_CALLGRAPH;
    int32_t part = has_parts ? 0 : CALLGRAPH_ADDRESS;

    if (data.size % 8 != 0)
        return READ_BAD_SECTION(reader, index, "has %zu bytes, expected pairs of 8", data.size);
    for (size_t i = 0; i < data.size / 8; i++) {
        int32_t second = (int32_t)info_word(data, i * 2 + 1);
        bool begins_part = has_parts && info_word(data, i * 2) == 0 && second < 0;

        if (begins_part && second < CALLGRAPH_CANDIDATE)
            return READ_BAD_SECTION(reader, index, "begins part %d, expected -1 to -4", second);
        if (begins_part)
            part = second;
        else if (!check_graph_pair(reader, index, i, part))
            return false;
    }
    return true;
}

/* Checks that notes are whole: three words, owner and description, both padded to four bytes. */
static bool check_notes(const struct reader *reader, size_t index)
{
    struct bytes rest = reader->cubin->sections[index].data;

    while (rest.size > 0) {
        uint64_t size = 12;

        if (rest.size >= size)
            size += (((uint64_t)info_word(rest, 0) + 3) & ~UINT64_C(3)) +
                    (((uint64_t)info_word(rest, 1) + 3) & ~UINT64_C(3));
        if (!bytes_slice(rest, size, rest.size >= size ? rest.size - size : 0, &rest))
            return READ_BAD_SECTION(
                reader, index, "ends within a note of %" PRIu64 " bytes, of which %zu are there",
                size, rest.size);
    }
    return true;
}

static bool check_section(struct reader *reader, size_t index)
{
    const struct cubin_section *section = &reader->cubin->sections[index];

    switch (section->type) {
    case SHT_PROGBITS:
        return !cubin_is_text(section) || check_text(reader, index);
    case SHT_CUDA_INFO:
    case SHT_CUDA_COMPAT:
    case SHT_CUDA_MERC_INFO:
        return check_info(reader, index);
    case SHT_CUDA_CALLGRAPH:
    case SHT_CUDA_PROTOTYPE:
        return check_graph(reader, index);
    case SHT_NOTE:
        return check_notes(reader, index);
    default:
        return true;
    }
}

bool read_check_contents(struct reader *reader)
{
    for (size_t i = 1; i < reader->cubin->section_count; i++)
        if (!check_section(reader, i))
            return false;
    return true;
}

/* The section that `section` belongs to, known to exist; NULL = none, or a Mercury section, which
 * has rules of its own. */
static const struct cubin_section *owner_of(const struct cubin *cubin,
                                            const struct cubin_section *section)
{
    if ((!format_is_relocations(section->type) && !(section->flags & SHF_INFO_LINK)) ||
        (cubin->sections[section->info].flags & SHF_CUDA_MERCURY))
        return NULL;
    return &cubin->sections[section->info];
}

/* Takes off a name what its type says that it begins with, up to the last dot; of constants that is
 * their bank, too. */
static bool skip_beginning(const struct cubin_section *section, struct text *name)
{
    struct text beginning = sections_of_function(section->facts)->name;
    uint64_t bank;

    if (format_is_constant(section->type))
        return text_skip(name, beginning) && text_scan_number(name, &bank) &&
               bank == section->type - SHT_CUDA_CONSTANT0;
    beginning.size--;
    return text_skip(name, beginning);
}

/* A section's name follows from its type and the section that it belongs to (measured, ptxas 12 and
 * 13); that of a relocation section ends with its target's whole name, and those of others that
 * belong to code with the function's name. The merge and the driver treat sections by name, so a
 * name that does not match is damage. */
static bool is_named_after(const struct reader *reader, const struct cubin_section *section,
                           const struct cubin_section *owner)
{
    bool is_relocation = format_is_relocations(section->type);
    struct text end = owner->name, name = section->name;

    if (!is_relocation && !text_starts(end, reader->code))
        return true;
    if (!is_relocation)
        end = text_drop(end, reader->code.size - 1);
    if (section->type == SHT_REL || section->type == SHT_RELA || section->type == SHT_CUDA_INFO ||
        section->type == SHT_CUDA_SHARED || format_is_constant(section->type))
        return skip_beginning(section, &name) && text_equal(name, end);
    return text_ends(name, end);
}

/* nvlink names a code section after its function. In linked code functions may be renamed. */
static bool check_code(const struct reader *reader, size_t index)
{
    const struct cubin *cubin = reader->cubin;
    const struct cubin_section *section = &cubin->sections[index];
    struct text name = section->name;
    uint32_t function;

    if (section->type != SHT_PROGBITS || !(section->flags & SHF_EXECINSTR))
        return true;
    if (!text_skip(&name, reader->code))
        return READ_BAD_SECTION(reader, index, "holds code, whose name begins with .text.");
    function = cubin_section_function(cubin, (uint32_t)index);
    return cubin->type == ET_EXEC || function == 0 ||
           text_equal(name, cubin->symbols[function].name) ||
           READ_BAD_SECTION(reader, index, "holds function '%.*s'",
                            TEXT_ARG(cubin->symbols[function].name));
}

/* nvlink determines the kind of a section by its name. */
static bool check_type(const struct reader *reader, size_t index)
{
    const struct cubin_section *section = &reader->cubin->sections[index];
    bool is_plain = section->type == SHT_SYMTAB || section->type == SHT_STRTAB ||
                    section->type == SHT_REL || section->type == SHT_RELA;

    /* Mercury has its own types of these, except for .strtab, which it shares. */
    if (is_plain && (section->flags & SHF_CUDA_MERCURY))
        return READ_BAD_SECTION(reader, index, "is of type %#x, with Mercury's flag",
                                section->type);
    if (!text_starts(section->name, reader->info))
        return true;
    if (section->type != SHT_CUDA_INFO)
        return READ_BAD_SECTION(reader, index, "has type %#x, expected %#x", section->type,
                                SHT_CUDA_INFO);
    return section->info == 0 || !text_equal(section->name, reader->info) ||
           READ_BAD_SECTION(reader, index, "belongs to section %u, expected none", section->info);
}

/* Mercury's relocations are of its own sections (ptxas 12.9 to 13.5). */
static bool check_owner(const struct reader *reader, size_t index)
{
    const struct cubin_section *section = &reader->cubin->sections[index];
    const struct cubin_section *owner = owner_of(reader->cubin, section);

    if (section->type == SHT_CUDA_MERC_RELA && owner)
        return READ_BAD_SECTION(reader, index,
                                "has relocations of section %u (%.*s), which is none "
                                "of Mercury's",
                                section->info, TEXT_ARG(owner->name));
    return !owner || is_named_after(reader, section, owner) ||
           READ_BAD_SECTION(reader, index,
                            "of type %#x has a name that does not fit section %u "
                            "(%.*s), to which it belongs",
                            section->type, section->info, TEXT_ARG(owner->name));
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
