/* mercury.c: Mercury's twins of sections and symbols, from sm_100 on.
 *
 * A cubin for sm_100 and later holds its code twice: as instructions of the target in .text.F, and
 * in .nv.capmerc.text.F in an intermediate form, from which finalizers make code for other targets.
 * With the latter go twins of all that speaks of offsets in code: .nv.merc.debug_*,
 * .nv.merc.nv.info
 * (.F), .nv.merc.rela.X, of the data that holds addresses (.nv.merc.nv.global.init,
 * .nv.merc.nv.constant.user for bank 3, .nv.merc.nv.constant.optimizer.F for bank 2), and the
 * symbol table .nv.merc.symtab. Measured on ptxas and nvlink 13.0: symbol i of that table is symbol
 * i of .symtab, with the twin in place of its section, the size that a function has in the
 * intermediate form, the data's type and memory space also after the link, and value 0 for reserved
 * symbols; only the section symbols of constant bank 0, which end .symtab, are not there. The first
 * word of the twin of code is the number of the code section. The rest of it is never looked into,
 * but for fields that relocations name (mercury_code.h). */
#include "merge/mercury.h"

#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "merge/layout.h"
#include "merge/ordering.h"
#include "merge/resolve.h"
#include "merge/shared.h"
#include "merge/symtab.h"

#define MERC_CODE_PREFIX TEXT(".nv.capmerc")
#define MERC_PREFIX      TEXT(".nv.merc")

#define SMALLEST_CODE 12u /* three words stand in front of it */

void mercury_leave_out(struct merging *m, size_t file, const char *why)
{
    if (m->has_twins)
        diag_caution("Mercury sections of '%s' and other inputs are not carried over (%s); the "
                     "output runs on its own target only",
                     m->cubins[file]->name, why);
    m->has_twins = false;
}

Elf64_Sym mercury_symbol(const struct merging *m, size_t file, uint32_t index)
{
    const struct cubin *cubin = m->cubins[file];
    struct bytes table = cubin->sections[m->twin_tables[file]].data;
    Elf64_Sym symbol = {0};

    if (index < table.size / sizeof symbol)
        memcpy(&symbol, table.data + index * sizeof symbol, sizeof symbol);
    return symbol;
}

uint32_t mercury_symbol_section(const struct merging *m, size_t file, uint32_t index)
{
    uint16_t section = mercury_symbol(m, file, index).st_shndx;
    struct bytes table = m->cubins[file]->sections[m->twin_indices[file]].data;
    Elf32_Word extended;

    if (section < SHN_LORESERVE)
        return section;
    if (section != SHN_XINDEX || index >= table.size / sizeof extended)
        return SECTION_SPECIAL | section;
    memcpy(&extended, table.data + index * sizeof extended, sizeof extended);
    return extended;
}

enum merged_class mercury_class(const struct merging *m, const struct cubin_section *section)
{
    if (!m->has_twins)
        return CLASS_COUNT;
    switch (section->type) {
    case SHT_CUDA_CAPMERC:
        return CLASS_TWIN_TEXT;
    case SHT_PROGBITS:
        return CLASS_TWIN_DEBUG;
    case SHT_CUDA_MERC_CONSTANT_USER:
        return CLASS_TWIN_CONSTANT;
    case SHT_CUDA_MERC_CONSTANT_OPTIMIZER:
        return CLASS_TWIN_FUNCTION_CONSTANT;
    case SHT_CUDA_GLOBAL_INIT:
        return CLASS_TWIN_GLOBAL_INIT;
    default:
        return CLASS_COUNT;
    }
}

static bool is_known(const struct merging *m, const struct cubin_section *section)
{
    return mercury_class(m, section) != CLASS_COUNT || section->type == SHT_CUDA_MERC_RELA ||
           section->type == SHT_CUDA_MERC_INFO || section->type == SHT_SYMTAB_SHNDX ||
           section->type == SHT_CUDA_MERC_SYMTAB;
}

/* Finds the symbol tables; false when no input has any twin. */
static bool find_tables(struct merging *m)
{
    bool found = false;

    m->twin_tables = arena_zalloc(&m->arena, m->count, sizeof *m->twin_tables);
    m->twin_indices = arena_zalloc(&m->arena, m->count, sizeof *m->twin_indices);
    for (size_t file = 0; file < m->count; file++)
        for (uint32_t i = 1; i < m->cubins[file]->section_count; i++) {
            const struct cubin_section *section = &m->cubins[file]->sections[i];

            found = found || cubin_is_mercury(section);
            if (section->type == SHT_CUDA_MERC_SYMTAB && section->entry_size == sizeof(Elf64_Sym))
                m->twin_tables[file] = i;
            if (section->type == SHT_SYMTAB_SHNDX && cubin_is_mercury(section))
                m->twin_indices[file] = i;
        }
    return found;
}

/* Whether symbol i stands for the same in both tables, so that one numbering serves both. */
static bool is_parallel(const struct merging *m, size_t file)
{
    const struct cubin *cubin = m->cubins[file];
    const struct cubin_section *table = &cubin->sections[m->twin_tables[file]];
    size_t count = table->size / sizeof(Elf64_Sym);

    if (!m->twin_tables[file] || !cubin->symtab || count > cubin->symbol_count ||
        table->link != cubin->sections[cubin->symtab].link)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];
        Elf64_Sym twin = mercury_symbol(m, file, i);

        if (ELF64_ST_TYPE(twin.st_info) != symbol->type ||
            (symbol->type != STT_SECTION &&
             !text_equal(cubin_string(cubin, twin.st_name), symbol->name)))
            return false;
        if (symbol->section < cubin->section_count &&
            mercury_symbol_section(m, file, i) >= cubin->section_count)
            return false;
    }
    return true;
}

/* The function of the twin of code; MERGE_NONE: there is none of that number. */
static uint32_t code_owner(const struct merging *m, size_t file, const struct cubin_section *code)
{
    const struct cubin *cubin = m->cubins[file];
    uint32_t section;

    if (code->type != SHT_CUDA_CAPMERC || code->info == 0 || code->info >= cubin->symbol_count ||
        code->size < SMALLEST_CODE)
        return MERGE_NONE;
    section = cubin->symbols[code->info].section;
    if (section >= cubin->section_count || !cubin_is_text(&cubin->sections[section]) ||
        cubin_section_function(cubin, section) != code->info)
        return MERGE_NONE;
    return merging_owner(m, file, section);
}

/* Finds the functions that the twins of one cubin belong to; NULL, or what is wrong. */
static const char *own_sections(const struct merging *m, uint32_t *owner_of, size_t file)
{
    const struct cubin *cubin = m->cubins[file];
    size_t texts = 0;

    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        uint32_t *owner = &owner_of[m->section_base[file] + i];

        texts += cubin_is_text(section);
        if (!cubin_is_mercury(section))
            continue;
        if (!is_known(m, section))
            return "there is a section of unknown kind";
        if (section->type == SHT_CUDA_CAPMERC) {
            *owner = code_owner(m, file, section);
            texts--;
        } else if ((section->flags & SHF_INFO_LINK) && section->type != SHT_CUDA_MERC_RELA) {
            *owner = code_owner(m, file, &cubin->sections[section->info]);
        } else {
            continue;
        }
        if (*owner == MERGE_NONE)
            return "there is a section of no function";
    }
    return texts == 0 ? NULL : "not every function has a twin";
}

void mercury_begin(struct merging *m)
{
    uint32_t *owner_of;

    if (!merging_is_mercury(m) || !find_tables(m))
        return;
    m->has_twins = true;
    owner_of = merging_none(m, m->section_base[m->count]);
    for (size_t file = 0; m->has_twins && file < m->count; file++) {
        const char *wrong = is_parallel(m, file) ? own_sections(m, owner_of, file)
                                                 : "it has no matching symbols for them";

        if (wrong)
            mercury_leave_out(m, file, wrong);
    }
    m->twin_owner_of = owner_of;
}

void mercury_pair(struct merging *m)
{
    if (!m->has_twins)
        return;
    m->twin_of = merging_none(m, m->section_count);
    m->twin_of_count = m->section_count;
    for (size_t file = 0; file < m->count; file++) {
        const struct cubin *cubin = m->cubins[file];
        const struct merged_place *places = &m->places[m->section_base[file]];

        for (uint32_t i = 1; i < cubin->symbol_count; i++) {
            uint32_t section = cubin->symbols[i].section;
            uint32_t twin = mercury_symbol_section(m, file, i);

            if (section >= cubin->section_count || twin >= cubin->section_count ||
                !cubin_is_mercury(&cubin->sections[twin]) ||
                cubin_is_mercury(&cubin->sections[section]))
                continue;
            if (places[section].section == MERGE_NONE || places[twin].section == MERGE_NONE)
                continue;
            m->twin_of[places[section].section] = places[twin].section;
            m->sections[places[twin].section].target = places[section].section;
        }
    }
}

static uint32_t twin_of(const struct merging *m, uint32_t section)
{
    return section < m->twin_of_count ? m->twin_of[section] : MERGE_NONE;
}

static uint32_t add_info(struct merging *m, struct text name, uint32_t function)
{
    bool is_program = function == MERGE_NONE;

    return layout_add(m, &(struct merged_section){
                             .class = is_program ? CLASS_TWIN_INFO : CLASS_TWIN_FUNCTION_INFO,
                             .name = name,
                             .type = SHT_CUDA_MERC_INFO,
                             .flags = SHF_CUDA_MERCURY | (is_program ? 0 : SHF_INFO_LINK),
                             .alignment = 4,
                             .function = function,
                             .target = MERGE_NONE,
                         });
}

/* The twins of .nv.info.F, in the order of those. */
static void add_infos(struct merging *m)
{
    struct merged_place *found = arena_zalloc(&m->arena, m->symbol_count, sizeof *found);
    size_t count = m->section_count;
    bool has_infos = false;

    for (size_t file = 0; file < m->count; file++)
        for (size_t i = 1; i < m->cubins[file]->section_count; i++) {
            uint32_t owner = merging_owner(m, file, i);

            if (m->cubins[file]->sections[i].type != SHT_CUDA_MERC_INFO)
                continue;
            has_infos = true;
            if (owner != MERGE_NONE && merging_keeps(m, file, i))
                found[owner] = (struct merged_place){.section = (uint32_t)file, .offset = i};
        }
    if (has_infos)
        add_info(m, TEXT(".nv.merc.nv.info"), MERGE_NONE);
    for (size_t i = 0; i < count; i++) {
        const struct merged_place *twin = &found[0];
        uint32_t added;

        if (m->sections[i].class != CLASS_FUNCTION_INFO)
            continue;
        twin = &found[m->sections[i].function];
        if (twin->offset == 0)
            continue;
        added = add_info(m, m->cubins[twin->section]->sections[twin->offset].name,
                         m->sections[i].function);
        m->sections[added].file = twin->section;
        m->sections[added].input = (uint32_t)twin->offset;
    }
}

/* The table of section indices, when there may be more sections than symbols can name. */
static void add_indices(struct merging *m)
{
    m->twin_indices_section = MERGE_NONE;
    if (m->section_count + ORDERING_INDICES + 2 < SHN_LORESERVE)
        return;
    m->twin_indices_section = layout_add(m, &(struct merged_section){
                                                .class = CLASS_TWIN_INDICES,
                                                .name = TEXT(".nv.merc.symtab_shndx"),
                                                .type = SHT_SYMTAB_SHNDX,
                                                .flags = SHF_CUDA_MERCURY,
                                                .alignment = 4,
                                                .entry_size = sizeof(Elf32_Word),
                                                .function = MERGE_NONE,
                                                .target = MERGE_NONE,
                                            });
}

void mercury_add_sections(struct merging *m)
{
    if (!m->has_twins)
        return;
    add_infos(m);
    add_indices(m);
    m->twin_symtab = layout_add(m, &(struct merged_section){
                                       .class = CLASS_TWIN_SYMTAB,
                                       .name = TEXT(".nv.merc.symtab"),
                                       .type = SHT_CUDA_MERC_SYMTAB,
                                       .flags = SHF_CUDA_MERCURY,
                                       .alignment = 8,
                                       .entry_size = sizeof(Elf64_Sym),
                                       .function = MERGE_NONE,
                                       .target = MERGE_NONE,
                                   });
}

void mercury_encode(struct merging *m)
{
    for (uint32_t i = 0; m->has_twins && i < m->section_count; i++) {
        uint32_t text;

        if (m->sections[i].class != CLASS_TWIN_TEXT)
            continue;
        text = m->sections[m->text_of[m->sections[i].function]].index;
        memcpy(layout_writable(m, i), &text, sizeof text);
    }
}

struct text mercury_plain_name(struct text name)
{
    struct text prefix = text_starts(name, MERC_CODE_PREFIX) ? MERC_CODE_PREFIX : MERC_PREFIX;

    return text_starts(name, prefix)
               ? (struct text){name.data + prefix.size, name.size - prefix.size}
               : name;
}

static Elf64_Sym section_row(struct merging *m, uint32_t section)
{
    uint32_t twin = twin_of(m, section);
    const struct merged_section *named = &m->sections[twin == MERGE_NONE ? section : twin];

    return (Elf64_Sym){.st_name = image_string(&m->strings, mercury_plain_name(named->name)),
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

    return section == MERGE_NONE ? 0 : m->sections[twin == MERGE_NONE ? section : twin].index;
}

static void set_sections(struct merging *m, Elf64_Sym *rows)
{
    Elf32_Word *indices = NULL;

    if (m->twin_indices_section != MERGE_NONE) {
        struct image_section *table =
            &m->image->sections[m->sections[m->twin_indices_section].index];

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

void mercury_encode_symbols(struct merging *m)
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
    section = &m->image->sections[m->sections[m->twin_symtab].index];
    section->data = rows;
    section->size = m->rows->twin_count * sizeof *rows;
}

uint32_t mercury_shared(const struct merging *m, const struct merged_section *section)
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
    return plain->index;
}

uint32_t mercury_info(const struct merging *m, const struct merged_section *section)
{
    uint32_t text = section->function == MERGE_NONE ? MERGE_NONE : m->text_of[section->function];

    switch (section->class) {
    case CLASS_TWIN_TEXT:
        return m->rows->of_symbol[section->function];
    case CLASS_TWIN_SYMTAB:
        return (uint32_t)m->rows->first_global;
    case CLASS_TWIN_RELOCATIONS:
        return m->sections[section->target].index;
    default:
        if (text == MERGE_NONE || twin_of(m, text) == MERGE_NONE)
            return 0;
        return m->sections[twin_of(m, text)].index;
    }
}

uint32_t mercury_link(const struct merging *m, const struct merged_section *section)
{
    switch (section->class) {
    case CLASS_TWIN_TEXT:
    case CLASS_TWIN_INFO:
    case CLASS_TWIN_FUNCTION_INFO:
    case CLASS_TWIN_RELOCATIONS:
        return m->sections[m->twin_symtab].index;
    case CLASS_TWIN_INDICES:
        return m->sections[m->twin_symtab].index;
    case CLASS_TWIN_SYMTAB:
        return ORDERING_STRTAB;
    default:
        return 0;
    }
}
