/* mercury_write.c: Mercury's info sections, symbol table and numbers in the image. */
#include "merge/merge_steps.h"

#include <string.h>

#include "cubin/mercury.h"
#include "merge/layout.h"
#include "merge/mercury.h"
#include "merge/merging_inputs.h"
#include "merge/ordering.h"
#include "merge/resolve.h"
#include "merge/shared.h"
#include "merge/symtab.h"
#include "merge/twins.h"

static uint32_t twin_of(const struct merging *m, uint32_t section)
{
    return m->twin_pairs && section < m->twin_pairs->count ? m->twin_pairs->twin_of[section]
                                                           : MERGE_NONE;
}

/* The twins of .nv.info.F, in the order of those. */
static void add_infos(struct merging *m)
{
    struct merged_place *found = arena_zalloc(&m->arena, m->symbol_count, sizeof *found);
    size_t count = m->section_count;
    bool has_infos = false;

    for (struct merging_walk at = {0}; merging_next(m, &at);) {
        uint32_t owner = merging_owner(m, at.file, at.index);

        if (at.section->type != SHT_CUDA_MERC_INFO)
            continue;
        has_infos = true;
        if (owner != MERGE_NONE && merging_keeps(m, at.file, at.index))
            found[owner] = (struct merged_place){.section = (uint32_t)at.file, .offset = at.index};
    }
    if (has_infos)
        layout_make(m, CLASS_TWIN_INFO);
    for (size_t i = 0; i < count; i++) {
        const struct merged_place *twin = &found[0];
        uint32_t added;

        if (m->sections[i].class != CLASS_FUNCTION_INFO)
            continue;
        twin = &found[m->sections[i].function];
        if (twin->offset == 0)
            continue;
        added = layout_make_of(m, CLASS_TWIN_FUNCTION_INFO,
                               m->cubins[twin->section]->sections[twin->offset].name,
                               m->sections[i].function);
        m->sections[added].file = twin->section;
        m->sections[added].input = (uint32_t)twin->offset;
    }
}

void mercury_write_add_sections(struct merging *m)
{
    struct twin_tables *tables = arena_alloc(&m->arena, 1, sizeof *tables);

    if (!m->has_twins)
        return;
    add_infos(m);
    /* The table of section indices, when there may be more sections than symbols can name. */
    tables->indices = m->section_count + ORDERING_INDICES + 2 < SHN_LORESERVE
                          ? MERGE_NONE
                          : layout_make(m, CLASS_TWIN_INDICES);
    tables->symtab = layout_make(m, CLASS_TWIN_SYMTAB);
    m->twin_tables = tables;
}

void mercury_write_encode(struct merging *m)
{
    for (uint32_t i = 0; m->has_twins && i < m->section_count; i++) {
        uint32_t text;

        if (m->sections[i].class != CLASS_TWIN_TEXT)
            continue;
        text = m->index_of[m->layout->text_of[m->sections[i].function]];
        memcpy(layout_writable(m, i, &m->image->arena), &text, sizeof text);
    }
}

static Elf64_Sym section_row(struct merging *m, uint32_t section)
{
    uint32_t twin = twin_of(m, section);
    const struct merged_section *named = &m->sections[twin == MERGE_NONE ? section : twin];

    return (Elf64_Sym){.st_name = image_string(&m->strings, cubin_twin_plain_name(named->name)),
                       .st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION)};
}

static Elf64_Sym symbol_row(struct merging *m, uint32_t index, Elf64_Sym row)
{
    const struct merged_symbol *symbol = &m->symbols[index];

    if (symbol->type == STT_FUNC && symbol->file != MERGE_NONE)
        row.st_size = mercury_symbol(m, symbol->file, symbol->input).st_size;
    if (resolve_is_reserved(symbol->name))
        row.st_value = 0;
    /* Under -g: without the driver's reserve. */
    if (merged_is_data(symbol, STO_CUDA_SHARED) && !m->request->relocatable)
        row.st_value = m->shared->address[index];
    if (merged_is_data(symbol, STO_CUDA_RESERVED_SHARED))
        row.st_value = reserved_twin_value(m, index);
    row.st_info = (unsigned char)ELF64_ST_INFO(symbol->binding, symbol->type);
    row.st_other = m->placed[index].other;
    return row;
}

/* The section of a row: the twin's, if there is one; 0: that of the plain symbol. */
static uint32_t section_of_row(const struct merging *m, size_t row)
{
    uint32_t symbol = m->rows->symbols[row];
    uint32_t section = symbol == MERGE_NONE ? m->rows->sections[row] : m->placed[symbol].section;
    uint32_t twin = section == MERGE_NONE ? MERGE_NONE : twin_of(m, section);

    return section == MERGE_NONE ? 0 : m->index_of[twin == MERGE_NONE ? section : twin];
}

static void set_sections(struct merging *m, Elf64_Sym *rows)
{
    Elf32_Word *indices = NULL;

    if (m->twin_tables->indices != MERGE_NONE) {
        struct image_section *table = &m->image->sections[m->index_of[m->twin_tables->indices]];

        indices = arena_zalloc(&m->image->arena, m->rows->twin_count, sizeof *indices);
        table->data = indices;
        table->size = m->rows->twin_count * sizeof *indices;
    }
    for (size_t row = 1; row < m->rows->twin_count; row++) {
        uint32_t section = section_of_row(m, row);

        if (section == 0)
            continue;
        rows[row].st_shndx = section < SHN_LORESERVE ? (uint16_t)section : SHN_XINDEX;
        if (section >= SHN_LORESERVE)
            indices[row] = section;
    }
}

void mercury_write_encode_symbols(struct merging *m)
{
    const struct image_section *symtab = &m->image->sections[ORDERING_SYMTAB];
    const Elf64_Sym *plain = symtab->data;
    struct image_section *section;
    Elf64_Sym *rows;

    if (!m->has_twins)
        return;
    rows = arena_zalloc(&m->image->arena, m->rows->twin_count, sizeof *rows);
    for (size_t row = 1; row < m->rows->twin_count; row++)
        rows[row] = m->rows->symbols[row] == MERGE_NONE
                        ? section_row(m, m->rows->sections[row])
                        : symbol_row(m, m->rows->symbols[row], plain[row]);
    set_sections(m, rows);
    section = &m->image->sections[m->index_of[m->twin_tables->symtab]];
    section->data = rows;
    section->size = m->rows->twin_count * sizeof *rows;
}

uint32_t mercury_write_shared(const struct merging *m, const struct merged_section *section)
{
    bool is_data = section->class == CLASS_TWIN_DEBUG || section->class == CLASS_TWIN_CONSTANT ||
                   section->class == CLASS_TWIN_GLOBAL_INIT;
    const struct merged_section *plain;

    if (!is_data || section->target == MERGE_NONE)
        return 0;
    plain = &m->sections[section->target];
    if (plain->size != section->size || section->size == 0 || !plain->data || !section->data ||
        memcmp(plain->data, section->data, section->size) != 0)
        return 0;
    return m->index_of[section->target];
}

uint32_t mercury_write_info(const struct merging *m, const struct merged_section *section)
{
    uint32_t text =
        section->function == MERGE_NONE ? MERGE_NONE : m->layout->text_of[section->function];

    switch (section->class) {
    case CLASS_TWIN_TEXT:
        return m->rows->of_symbol[section->function];
    case CLASS_TWIN_SYMTAB:
        return (uint32_t)m->rows->first_global;
    case CLASS_TWIN_RELOCATIONS:
        return m->index_of[section->target];
    default:
        if (text == MERGE_NONE || twin_of(m, text) == MERGE_NONE)
            return 0;
        return m->index_of[twin_of(m, text)];
    }
}

uint32_t mercury_write_link(const struct merging *m, const struct merged_section *section)
{
    switch (section->class) {
    case CLASS_TWIN_TEXT:
    case CLASS_TWIN_INFO:
    case CLASS_TWIN_FUNCTION_INFO:
    case CLASS_TWIN_RELOCATIONS:
    case CLASS_TWIN_INDICES:
        return m->index_of[m->twin_tables->symtab];
    case CLASS_TWIN_SYMTAB:
        return ORDERING_STRTAB;
    default:
        return 0;
    }
}
