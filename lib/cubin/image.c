/* image.c: sections, string tables, symbols, and their places in the file.
 *
 * Layout as measured on ptxas and nvlink: the ELF header, .shstrtab at 0x40, the sections in index
 * order, then the section header table, and in an executable the program headers at the very end,
 * covered by a segment of their own. All addresses are 0. */
#include "cubin/image.h"

#include "base/search.h"
#include "cubin/format.h"

uint32_t image_put_string(struct buffer *table, struct text string)
{
    uint32_t offset = (uint32_t)table->size;

    /* st_name and sh_name have 32 bits, which bounds the size of the table. */
    if (string.size >= UINT32_MAX - table->size)
        context_raise(LINK_NO_MEMORY);
    buffer_text(table, string);
    buffer_char(table, '\0');
    return offset;
}

uint32_t image_string(struct image_strings *strings, struct text string)
{
    uint32_t known, offset;

    if (strings->bytes.size == 0)
        buffer_char(&strings->bytes, '\0');
    if (string.size == 0)
        return 0;
    offset = (uint32_t)strings->bytes.size;
    known = table_add(&strings->offsets, string, offset);
    return known == offset ? image_put_string(&strings->bytes, string) : known;
}

void image_strings_free(void *argument)
{
    struct image_strings *strings = argument;

    buffer_free(&strings->bytes);
    table_free(&strings->offsets);
    *strings = (struct image_strings){0};
}

void image_begin(struct image *image, uint16_t type, uint32_t flags)
{
    *image = (struct image){.type = type, .flags = flags};
    image_add_section(image, &(struct image_section){.type = SHT_NULL});
}

uint32_t image_add_section(struct image *image, const struct image_section *section)
{
    if (image->section_count >= UINT32_MAX - 1)
        context_raise(LINK_NO_MEMORY);
    ARRAY_PUSH(image->sections, image->section_count, image->section_capacity) = *section;
    return (uint32_t)(image->section_count - 1);
}

uint32_t image_add_made(struct image *image, const struct section_facts *facts, uint32_t link)
{
    return image_add_section(image, &(struct image_section){
                                        .name = facts->name,
                                        .type = facts->type,
                                        .flags = facts->flags,
                                        .alignment = facts->alignment,
                                        .entry_size = facts->entry_size,
                                        .link = link,
                                    });
}

/* SHT_SYMTAB_SHNDX has the 32-bit indices, and 0 for other symbols, as ELF requires (nvlink writes
 * the indices of all). */
void image_begin_symbols(struct image *image, uint32_t indices, size_t count,
                         struct image_strings *strings, struct image_symbols *symbols)
{
    *symbols = (struct image_symbols){
        .table = arena_alloc(&image->arena, count, sizeof *symbols->table),
        .strings = strings,
        .count = count,
    };
    if (indices == 0)
        return;
    symbols->indices = arena_zalloc(&image->arena, count, sizeof *symbols->indices);
    image->sections[indices].data = symbols->indices;
    image->sections[indices].size = count * sizeof *symbols->indices;
}

void image_put_symbol(struct image_symbols *symbols, size_t row, const struct image_symbol *symbol)
{
    bool is_wide = symbol->section >= SHN_LORESERVE && symbol->section < SECTION_SPECIAL;

    symbols->table[row] = (Elf64_Sym){
        .st_name =
            symbol->name.size ? image_string(symbols->strings, symbol->name) : symbol->name_offset,
        .st_info = (unsigned char)ELF64_ST_INFO(symbol->binding, symbol->type),
        .st_other = symbol->other,
        .st_shndx = is_wide ? SHN_XINDEX : (uint16_t)symbol->section,
        .st_value = symbol->value,
        .st_size = symbol->size,
    };
    if (is_wide)
        symbols->indices[row] = symbol->section;
}

void image_end_symbols(struct image *image, uint32_t symtab, const struct image_symbols *symbols,
                       size_t first_global)
{
    struct image_section *section = &image->sections[symtab];

    section->data = symbols->table;
    section->size = symbols->count * sizeof *symbols->table;
    section->entry_size = sizeof *symbols->table;
    section->info = (uint32_t)first_global;
}

void image_set_symbols(struct image *image, uint32_t symtab, const struct image_symbol *symbols,
                       size_t count, struct image_strings *strings)
{
    const struct section_facts *row = sections_find(SHT_SYMTAB_SHNDX, 0, (struct text){0});
    struct image_symbols table;
    size_t first_global = 0;
    uint32_t indices = 0;

    if (image->section_count > SHN_LORESERVE)
        indices = image_add_made(image, row, symtab);
    image_begin_symbols(image, indices, count, strings, &table);
    for (size_t i = 0; i < count; i++)
        image_put_symbol(&table, i, &symbols[i]);
    while (first_global < count && symbols[first_global].binding != STB_GLOBAL)
        first_global++;
    image_end_symbols(image, symtab, &table, first_global);
}

void image_take_strings(struct image *image, uint32_t index, struct buffer *table)
{
    image->strings[image->string_count++] = *table;
    image->sections[index].data = table->data;
    image->sections[index].size = table->size;
    *table = (struct buffer){0};
}

void image_set_section_names(struct image *image, uint32_t index, struct image_strings *names)
{
    struct image_strings own = {0};

    CONTEXT_DEFER(image_strings_free, &own);
    names = names ? names : &own;
    image_string(names, (struct text){0});
    for (size_t i = 0; i < image->section_count; i++)
        if (image->sections[i].name_offset == 0)
            image->sections[i].name_offset = image_string(names, image->sections[i].name);
    image_take_strings(image, index, &names->bytes);
}

/* Bytes that a section takes in the file. */
static uint64_t file_bytes(const struct image_section *section)
{
    return section->has_no_bytes ? 0 : section->size;
}

/* A segment of all loaded sections with these flags, or of the program headers. */
struct segment_rule {
    enum { OF_ALL, BEFORE_CODE, FROM_CODE, OF_HEADERS } part;
    uint32_t type;
    uint32_t flags;     /* p_flags */
    uint64_t wanted;    /* section flags that must be set */
    uint64_t forbidden; /* section flags that must not be set */
};

/* Up to sm_90: first the read-only sections, then the writable ones. */
static const struct segment_rule rules_sm90[] = {
    {OF_HEADERS, PT_PHDR, PF_R | PF_X, 0, 0},
    {OF_ALL, PT_LOAD, PF_R | PF_X, SHF_ALLOC, SHF_WRITE},
    {OF_ALL, PT_LOAD, PF_R | PF_W, SHF_ALLOC | SHF_WRITE, 0},
    {OF_HEADERS, PT_LOAD, PF_R | PF_X, 0, 0},
};

#define NO_CONSTANTS (SHF_WRITE | SHF_EXECINSTR | SHF_CUDA_MERCURY)

/* From sm_100 on the program's constants, code, data and the kernels' parameters each have their
 * own. The Mercury twins of data sections, marked by a section flag, are not loaded. */
static const struct segment_rule rules_sm100[] = {
    {OF_HEADERS, PT_PHDR, PF_R, 0, 0},
    {OF_HEADERS, PT_LOAD, PF_R, 0, 0},
    {BEFORE_CODE, PT_LOAD, PF_R, SHF_ALLOC, NO_CONSTANTS},
    {OF_ALL, PT_LOAD, PF_R | PF_X, SHF_ALLOC | SHF_EXECINSTR, SHF_CUDA_MERCURY},
    {OF_ALL, PT_LOAD, PF_R | PF_W, SHF_ALLOC | SHF_WRITE, SHF_CUDA_MERCURY},
    {FROM_CODE, PT_LOAD, PF_R, SHF_ALLOC, NO_CONSTANTS},
};

static bool rule_covers(const struct segment_rule *rule, const struct image_section *section)
{
    return (section->flags & rule->wanted) == rule->wanted &&
           (section->flags & rule->forbidden) == 0;
}

/* Adds one segment for all of these sections that the rule covers, from the first to the end of the
 * last, if there are any. Measured: NOBITS sections reach into the file part with their aligned
 * offset, and then take room behind it as if memory began there at 0 (ptxas and nvlink 13.0, 13.1
 * and 13.5, 60 random programs with alignments up to 1,024 each). */
static void add_segment(struct image *image, const struct segment_rule *rule, size_t first,
                        size_t last)
{
    bool found = false, has_empty = false;
    uint64_t start = 0, end = 0, memory = 0;

    for (size_t i = first; i < last; i++) {
        const struct image_section *section = &image->sections[i];

        if (!rule_covers(rule, section))
            continue;
        if (!found)
            start = end = section->offset;
        found = true;
        RAISE(end, section->offset + file_bytes(section));
        has_empty |= section->has_no_bytes;
    }
    for (size_t i = first; has_empty && i < last; i++) {
        const struct image_section *section = &image->sections[i];

        if (section->has_no_bytes && rule_covers(rule, section))
            memory = image_align_up(memory, section->alignment) + section->size;
    }
    if (found)
        image->segments[image->segment_count++] = (Elf64_Phdr){.p_type = rule->type,
                                                               .p_flags = rule->flags,
                                                               .p_offset = start,
                                                               .p_filesz = end - start,
                                                               .p_memsz = end - start + memory,
                                                               .p_align = 8};
}

/* Places the program headers after everything else. */
static void layout_segments(struct image *image, bool is_apart)
{
    const struct segment_rule *rules = is_apart ? rules_sm100 : rules_sm90;
    size_t count =
        is_apart ? sizeof rules_sm100 / sizeof *rules : sizeof rules_sm90 / sizeof *rules;
    size_t code = 1;

    while (code < image->section_count && !(image->sections[code].flags & SHF_EXECINSTR))
        code++;
    image->program_header_offset = image->file_size;
    for (size_t i = 0; i < count; i++)
        if (rules[i].part == OF_HEADERS)
            image->segments[image->segment_count++] =
                (Elf64_Phdr){.p_type = rules[i].type,
                             .p_flags = rules[i].flags,
                             .p_offset = image->program_header_offset,
                             .p_align = 8};
        else
            add_segment(image, &rules[i], rules[i].part == FROM_CODE ? code : 1,
                        rules[i].part == BEFORE_CODE ? code : image->section_count);
    for (size_t i = 0; i < image->segment_count; i++)
        if (image->segments[i].p_offset == image->program_header_offset)
            image->segments[i].p_filesz = image->segments[i].p_memsz =
                image->segment_count * sizeof(Elf64_Phdr);
    image->file_size += image->segment_count * sizeof(Elf64_Phdr);
}

static void layout_sections(struct image *image, const struct image_program_layout *layout)
{
    uint64_t position = sizeof(Elf64_Ehdr);

    for (size_t i = 1; i < image->section_count; i++) {
        struct image_section *section = &image->sections[i];

        if (section->shares) {
            section->offset = image->sections[section->shares].offset;
            continue;
        }
        if (i == 2 || i == 3)
            position += layout->gaps[i - 2];
        position = image_align_up(position, section->alignment);
        section->offset = position;
        position += file_bytes(section);
    }
    image->section_header_offset = layout->is_packed ? position : image_align_up(position, 8);
    image->file_size = image->section_header_offset + image->section_count * sizeof(Elf64_Shdr);
    image->segment_count = 0;
    image->program_header_offset = 0;
}

void image_layout_program(struct image *image, const struct image_program_layout *layout)
{
    layout_sections(image, layout);
    if (image->type == ET_EXEC)
        layout_segments(image, layout->is_apart);
}

void image_layout(struct image *image)
{
    bool is_apart = (image->flags & 0xff & ~CUBIN_FLAGS_SUFFIX_A) == CUBIN_FLAGS_CLASS_SM100;

    image_layout_program(image, &(struct image_program_layout){.is_apart = is_apart});
}

void image_free(void *argument)
{
    struct image *image = argument;

    arena_free(&image->arena);
    for (size_t i = 0; i < image->string_count; i++)
        buffer_free(&image->strings[i]);
    free(image->sections);
    *image = (struct image){0};
}
