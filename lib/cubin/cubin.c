/* cubin.c: finds sections, their functions and their twins, and reads the records and the call
 * graph, whose form is in format.h. */
#include "cubin/contents.h"
#include "cubin/internal.h"

#include "diag/diag.h"

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

uint32_t cubin_find_kind(const struct cubin *cubin, enum section_kind kind)
{
    for (size_t i = 1; i < cubin->section_count; i++)
        if (cubin_is_kind(&cubin->sections[i], kind))
            return (uint32_t)i;
    return 0;
}

uint32_t cubin_find_class(const struct cubin *cubin, enum section_class class)
{
    for (size_t i = 1; i < cubin->section_count; i++)
        if (cubin->sections[i].facts && cubin->sections[i].facts->class == class &&
            !(cubin->sections[i].flags & SHF_INFO_LINK))
            return (uint32_t)i;
    return 0;
}

uint32_t cubin_find_note(const struct cubin *cubin)
{
    uint32_t note = cubin_find_kind(cubin, KIND_TARGET);

    return note ? note : cubin_find_kind(cubin, KIND_TARGET_OF_12);
}

/* .note.nv.cuinfo: sizes, type and owner take 24 bytes; then a version of the note's form, 2 from
 * CUDA 13.0 on, the SM number of the PTX, and the toolkit's version, 16 bits each. What CUDA 12.8
 * and 12.9 make from sm_100 on has .note.nv.cuver, without the last, which tools' records have. */
unsigned cubin_maker(const struct cubin *cubin)
{
    uint32_t note = cubin_find_note(cubin), tools = cubin_find_kind(cubin, KIND_TOOLS);
    struct bytes words, records = cubin->sections[tools].data;
    struct tool_note tool = {0};

    if (note && cubin_is_kind(&cubin->sections[note], KIND_TARGET_OF_12))
        return tool_note_next(&records, &tool) ? tool.version
                                               : toolkits_last(TOOLKIT_WRITES_FIRST_MERCURY);
    if (cubin->toolkit || !note || !bytes_slice(cubin->sections[note].data, 24, 6, &words))
        return cubin->toolkit;
    return little_u16(words.data + 4);
}

unsigned cubin_virtual_sm(const struct cubin *cubin)
{
    uint32_t note = cubin_find_note(cubin);
    struct bytes words;

    if (cubin->virtual_sm)
        return cubin->virtual_sm;
    return note && bytes_slice(cubin->sections[note].data, 24, 4, &words)
               ? little_u16(words.data + 2)
               : CUBIN_FLAGS_SM(cubin->flags);
}

uint32_t cubin_section_function(const struct cubin *cubin, uint32_t index)
{
    const struct cubin_section *section = &cubin->sections[index];

    if (!cubin_is_text(section) && (section->flags & SHF_INFO_LINK) && !cubin_is_mercury(section))
        section = &cubin->sections[section->info];
    /* The high byte is the register count of architectures before sm_90. */
    return cubin_is_text(section) ? section->info & 0xffffffu : 0;
}

enum section_class cubin_class_of(const struct cubin_section *section)
{
    const struct section_facts *row = section->facts;
    bool is_mercury = cubin_is_mercury(section);

    if (!row || class_is_in(row->class, CLASSES_OF_MERCURY) != is_mercury)
        return is_mercury ? CLASS_TWIN_OTHER : CLASS_OTHER;
    return section->type == SHT_CUDA_CONSTANT0 ? CLASS_FUNCTION_CONSTANT : row->class;
}

struct text cubin_string(const struct cubin *cubin, uint64_t offset)
{
    if (offset >= cubin->strings.size)
        return (struct text){0};
    return text_of((const char *)cubin->strings.data + offset);
}

void info_put_head(struct buffer *out, uint8_t format, uint8_t attribute, size_t value)
{
    buffer_u32(out, format | (uint32_t)attribute << 8 | (uint32_t)(uint16_t)value << 16);
}

size_t info_symbol_words(const struct info_record *record)
{
    if (record->format != EIFMT_SVAL)
        return 0;
    switch (attributes_rows[record->attribute].symbols) {
    case SYMBOLS_PARAMETER: /* one that is a texture, sampler or surface reference has a symbol */
        return info_word(record->payload, 0) ? 1 : 0;
    case SYMBOLS_ALL:
        return record->payload.size / 4;
    case SYMBOLS_1:
        return record->payload.size >= 4;
    default:
        return 0;
    }
}

bool info_put_joined(struct buffer *to, const struct info_record *record, const struct cubin *cubin,
                     const uint32_t *joined, const bool *bound)
{
    size_t words = info_symbol_words(record), start = to->size, size;
    bool is_externs = record->attribute == EIATTR_EXTERNS, is_whole = true;

    info_put_head(to, record->format, record->attribute, record->value);
    if (record->format != EIFMT_SVAL)
        return true;
    for (size_t i = 0; i < words; i++) {
        uint32_t symbol = info_word(record->payload, i);

        is_whole = is_whole && symbol < cubin->symbol_count && (symbol == 0 || joined[symbol]);
        if (is_whole && !(is_externs && bound && bound[symbol]))
            buffer_u32(to, joined[symbol]);
    }
    buffer_append(to, record->payload.data + words * 4, record->payload.size - words * 4);
    size = to->size - start - 4;
    to->data[start + 2] = (char)(size & 0xff);
    to->data[start + 3] = (char)(size >> 8);
    if (is_whole && !(is_externs && size == 0))
        return true;
    to->size = start;
    return false;
}

bool callgraph_next(struct bytes *rest, struct callgraph_entry *entry)
{
    while (rest->size >= 8) {
        entry->first = info_word(*rest, 0);
        entry->second = info_word(*rest, 1);
        rest->data += 8;
        rest->size -= 8;
        if (entry->first != 0 || (int32_t)entry->second >= 0)
            return true;
        entry->part = (int32_t)entry->second;
    }
    return false;
}

uint32_t cubin_symbol_section(struct bytes indices, size_t symbol, uint16_t section)
{
    Elf32_Word extended;

    if (section < SHN_LORESERVE)
        return section;
    if (section != SHN_XINDEX || symbol >= indices.size / sizeof extended)
        return SECTION_SPECIAL | section;
    memcpy(&extended, indices.data + symbol * sizeof extended, sizeof extended);
    return extended < SECTION_SPECIAL ? extended : SECTION_SPECIAL | section;
}

Elf64_Sym cubin_twin_symbol(const struct cubin *cubin, uint32_t index)
{
    struct bytes table = cubin->sections[cubin->twin_symtab].data;
    Elf64_Sym symbol = {0};

    if (index < table.size / sizeof symbol)
        memcpy(&symbol, table.data + index * sizeof symbol, sizeof symbol);
    return symbol;
}

uint32_t cubin_twin_section(const struct cubin *cubin, uint32_t index)
{
    return cubin_symbol_section(cubin->sections[cubin->twin_indices].data, index,
                                cubin_twin_symbol(cubin, index).st_shndx);
}

/* True if symbol i means the same in both tables. */
static bool are_parallel(const struct cubin *cubin)
{
    const struct cubin_section *table = &cubin->sections[cubin->twin_symtab];
    size_t count = table->size / sizeof(Elf64_Sym);

    if (!cubin->twin_symtab || !cubin->symtab || count > cubin->symbol_count ||
        table->link != cubin->sections[cubin->symtab].link)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];
        Elf64_Sym twin = cubin_twin_symbol(cubin, i);

        if (ELF64_ST_TYPE(twin.st_info) != symbol->type ||
            (symbol->type != STT_SECTION &&
             !text_equal(cubin_string(cubin, twin.st_name), symbol->name)))
            return false;
        if (symbol->section < cubin->section_count &&
            cubin_twin_section(cubin, i) >= cubin->section_count)
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

const char *cubin_twins_check(const struct cubin *cubin)
{
    size_t codes = 0;

    if (!are_parallel(cubin))
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

bool cubin_twins_pair(const struct cubin *cubin, uint32_t index, uint32_t *plain, uint32_t *twin)
{
    *plain = cubin->symbols[index].section;
    if (*plain >= cubin->section_count)
        return false;
    *twin = cubin_twin_section(cubin, index);
    return *twin < cubin->section_count && cubin_is_mercury(&cubin->sections[*twin]) &&
           !cubin_is_mercury(&cubin->sections[*plain]);
}
