/* symtab.c: rows of the symbol table, in nvlink's order.
 *
 * Cubin by cubin in the order of resolve.c; the linker's own sections; then the globals, again
 * cubin by cubin. A weak symbol that a strong definition replaced keeps its place among the locals.
 * Shared variables, internal constants and dead functions are not written (all measured on nvlink).
 *
 * Symbols that are only kept for the lists of -preserve-relocs get their places here, and from
 * sm_100 on names like the finalizer's. */
#include "merge/internal.h"

static void append_row(struct merging *m, uint32_t symbol, uint32_t section)
{
    m->out->rows.symbols[m->out->rows.count] = symbol;
    m->out->rows.sections[m->out->rows.count++] = section;
}

static void add_section_row(struct merging *m, uint32_t section)
{
    if (section == MERGE_NONE || m->out->sections[section].row ||
        m->out->sections[section].class == CLASS_COUNT)
        return;
    m->out->sections[section].row = (uint32_t)m->out->rows.count;
    append_row(m, MERGE_NONE, section);
}

static bool is_internal(const struct merging *m, uint32_t symbol)
{
    return ELF64_ST_VISIBILITY(m->out->placed[symbol].other) == STV_INTERNAL;
}

bool symtab_writes(const struct merging *m, uint32_t index)
{
    const struct merged_symbol *symbol = &m->symbols[index];
    uint32_t section = m->out->placed[index].section;

    if (symbol->type == STT_FUNC)
        return m->is_live[index] || (symbol->file != MERGE_NONE && symbol->alias != MERGE_NONE &&
                                     m->is_live[symbol->alias]);
    if (symbol->type == STT_NOTYPE && symbol->file != MERGE_NONE && section == MERGE_NONE &&
        (symbol->other & STO_CUDA_SPACE) == STO_CUDA_RESERVED_SHARED)
        return false; /* a name for an empty .nv.shared.reserved.0 */
    if (m->request->relocatable)
        return true;
    if (resolve_is_unified_table(symbol->name))
        return false;
    if (merged_is_data(symbol, STO_CUDA_SHARED))
        return merging_keeps_all(m) && section != MERGE_NONE;
    if (symbol->type != STT_CUDA_OBJECT || !is_internal(m, index))
        return true;
    return m->request->preserve_relocations && section != MERGE_NONE &&
           m->out->sections[section].class != CLASS_COUNT;
}

static void add_symbol_row(struct merging *m, uint32_t index)
{
    if (!symtab_writes(m, index))
        return;
    m->out->rows.of_symbol[index] = (uint32_t)m->out->rows.count;
    append_row(m, index, MERGE_NONE);
}

bool symtab_names_debug_shared(const struct merging *m, size_t file, uint32_t input)
{
    return input == 0 || (m->cubins[file]->sections[input].type == SHT_CUDA_SHARED &&
                          merging_owner(m, file, input) == MERGE_NONE);
}

uint32_t symtab_section_named(const struct merging *m, size_t file, uint32_t input)
{
    uint32_t placed = merging_place(m, file, input)->section;
    const struct cubin_section *section;
    uint32_t owner;

    if (placed != MERGE_NONE)
        return placed;
    if (symtab_names_debug_shared(m, file, input))
        return m->out->shared.debug_section;
    section = &m->cubins[file]->sections[input];
    owner = merging_owner(m, file, input);
    if (owner != MERGE_NONE && cubin_is_text(section))
        return m->out->text_of[owner];
    if (owner != MERGE_NONE && section->type == SHT_CUDA_SHARED)
        return m->out->shared.section_of[owner];
    if (section->type == SHT_NOTE)
        return table_find(&m->out->section_names, section->name);
    return MERGE_NONE;
}

/* Whether a section that may be shared memory has a row. A kernel's has unless it is empty and made
 * by the linker. From sm_100 on the driver's reserved bytes do not count (measured). */
static bool is_named(const struct merging *m, const struct merged_section *section)
{
    bool is_large = section->size > (merging_is_mercury(m) ? m->target->reserved : 0);

    if (section->class == CLASS_DEBUG_SHARED)
        return merging_keeps_all(m) && is_large;
    return section->class != CLASS_SHARED || is_large || m->out->shared.is_given[section->function];
}

static bool stands_last(const struct merging *m, uint32_t section)
{
    return section != MERGE_NONE && ordering_is_last(m, &m->out->sections[section]);
}

/* By merged section: whether a cubin has a symbol for what it has of it. */
static const bool *find_names(struct merging *m)
{
    bool *has_name = arena_zalloc(&m->arena, m->out->section_count, sizeof *has_name);

    for (size_t file = 0; file < m->count; file++)
        for (size_t i = 1; i < m->cubins[file]->symbol_count; i++) {
            const struct cubin_symbol *symbol = &m->cubins[file]->symbols[i];
            uint32_t section = cubin_names_section(m->cubins[file], symbol)
                                   ? merging_place(m, file, symbol->section)->section
                                   : MERGE_NONE;

            if (section != MERGE_NONE)
                has_name[section] = true;
        }
    return has_name;
}

static void add_local_row(struct merging *m, const struct merged_local *local, const bool *has_name)
{
    uint32_t section;

    if (local->index == MERGE_NONE) {
        m->out->rows.nameless[local->file] = (uint32_t)m->out->rows.count;
        append_row(m, MERGE_NONE, MERGE_NONE);
        return;
    }
    if (!local->is_section) {
        add_symbol_row(m, local->index);
        return;
    }
    section = symtab_section_named(m, local->file, local->index);
    if (section == MERGE_NONE || stands_last(m, section) ||
        (m->out->sections[section].class == CLASS_DEBUG && !has_name[section]) ||
        (section == m->out->shared.debug_section && !is_named(m, &m->out->sections[section])))
        return;
    add_section_row(m, section);
    if (m->out->sections[section].class != CLASS_TEXT)
        return;
    /* The row of a kernel's shared memory follows that of its code. */
    section = m->out->shared.section_of[m->out->sections[section].function];
    if (section != MERGE_NONE && is_named(m, &m->out->sections[section]))
        add_section_row(m, section);
}

/* Adds rows of notes, since cubins of CUDA 12 have no symbols for them. */
static void add_notes(struct merging *m)
{
    const struct cubin *first = m->cubins[0];
    bool lacks_rows = (first->toolkit || cubin_find_kind(first, KIND_TARGET_OF_12)) &&
                      !merging_is_first_mercury(m);

    for (size_t i = 0; lacks_rows && i < m->out->order_count; i++)
        if (text_starts(m->out->sections[m->out->order[i]].name, TEXT(".note.nv.")))
            add_section_row(m, m->out->order[i]);
}

static void add_linker_sections(struct merging *m)
{
    static const enum section_class classes[] = {CLASS_CALLGRAPH, CLASS_PROTOTYPE,
                                                 CLASS_FUNCTION_CONSTANT, CLASS_REL_ACTION};

    for (size_t i = 0; i < m->out->order_count; i++) {
        const struct merged_section *section = &m->out->sections[m->out->order[i]];

        if (section->class >= CLASS_SHARED && section->size && is_named(m, section))
            add_section_row(m, m->out->order[i]);
    }
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
        for (uint32_t i = m->out->classes.first[classes[c]];
             i < m->out->classes.first[classes[c] + 1]; i++)
            if (m->out->sections[m->out->classes.items[i]].index &&
                !merged_is_bank(&m->out->sections[m->out->classes.items[i]], 0))
                add_section_row(m, m->out->classes.items[i]);
}

/* Symbols of the parameters of a kernel's losing copy are kept and refer to the winner's. */
static void keep_lost_parameters(struct merging *m)
{
    const uint32_t *bank_of = layout_find_banks(m, 0);

    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[i];
        uint32_t owner = merging_holder(m, symbol);

        if (owner != MERGE_NONE && m->out->placed[i].section == MERGE_NONE &&
            m->cubins[symbol->file]->sections[symbol->input_section].type == SHT_CUDA_CONSTANT0)
            m->out->placed[i].section = bank_of[owner];
    }
}

/* From sm_100 on compiler constants have the finalizer's names, with a number. */
static void number_constants(struct merging *m)
{
    uint32_t *counts = arena_zalloc(&m->arena, m->symbol_count, sizeof *counts);

    for (size_t i = 0; i < m->symbol_count; i++) {
        struct placed_symbol *symbol = &m->out->placed[i];
        const struct merged_section *section =
            symbol->section == MERGE_NONE ? NULL : &m->out->sections[symbol->section];

        if (!section || !merged_is_bank(section, CONSTANTS_BANK) ||
            !merged_is_data(&m->symbols[i], STO_CUDA_CONST))
            continue;
        symbol->name = text_of(arena_printf(&m->image->arena, ".nv.constant.optimizer.%.*s.%u",
                                            TEXT_ARG(m->symbols[section->function].name),
                                            ++counts[section->function]));
    }
}

/* Where a row for a symbol that cubins share stands. */
enum part { PART_LOCAL, PART_GLOBAL, PART_PLAIN_ONLY };

static void add_globals(struct merging *m, enum part part)
{
    for (size_t i = 0; i < m->resolved.global_count; i++) {
        uint32_t symbol = m->resolved.globals[i];
        /* Up to sm_90 they keep their places among the global ones. */
        bool is_local = symtab_makes_local(m, symbol) && merging_is_mercury(m);

        if (part == (mercury_lacks(m, symbol) ? PART_PLAIN_ONLY
                     : is_local               ? PART_LOCAL
                                              : PART_GLOBAL))
            add_symbol_row(m, symbol);
    }
}

void symtab_assign(struct merging *m)
{
    const struct resolution *resolved = &m->resolved;
    size_t most = 1 + m->symbol_count + m->out->section_count + m->count;
    const bool *has_name = find_names(m);

    m->out->rows.symbols = arena_alloc(&m->arena, most, sizeof(uint32_t));
    m->out->rows.sections = arena_alloc(&m->arena, most, sizeof(uint32_t));
    m->out->rows.of_symbol = arena_zalloc(&m->arena, m->symbol_count, sizeof(uint32_t));
    m->out->rows.nameless = arena_zalloc(&m->arena, m->count, sizeof(uint32_t));
    if (m->request->preserve_relocations) {
        keep_lost_parameters(m);
        if (merging_is_mercury(m))
            number_constants(m);
    }
    append_row(m, MERGE_NONE, MERGE_NONE); /* the null symbol */
    add_notes(m);
    for (size_t i = 0; i < resolved->local_count; i++)
        add_local_row(m, &resolved->locals[i], has_name);
    add_linker_sections(m);
    add_globals(m, PART_LOCAL);
    m->out->rows.first_global = m->out->rows.count;
    add_globals(m, PART_GLOBAL);
    m->out->rows.twin_count = m->out->rows.count;
    add_globals(m, PART_PLAIN_ONLY);
    for (size_t i = 0; merging_is_mercury(m) && i < resolved->local_count; i++) {
        const struct merged_local *local = &resolved->locals[i];
        uint32_t section =
            local->is_section ? symtab_section_named(m, local->file, local->index) : MERGE_NONE;

        if (stands_last(m, section))
            add_section_row(m, section);
    }
    /* Twins have the rows of their sections. */
    for (size_t i = 0; m->out->has_twins && i < m->out->section_count; i++)
        if (m->out->sections[i].twin != MERGE_NONE)
            m->out->sections[m->out->sections[i].twin].row = m->out->sections[i].row;
}

static struct image_symbol section_symbol(struct merging *m, uint32_t index)
{
    const struct merged_section *section = &m->out->sections[index];
    bool is_like_twin = m->out->has_twins && section->twin != MERGE_NONE &&
                        merged_is_bank(section, CONSTANTS_BANK) &&
                        merging_does(m, TOOLKIT_NAMES_CONSTANTS_LIKE_TWINS);
    struct image_symbol row = {.name_offset = section->name_offset,
                               .type = STT_SECTION,
                               .binding = STB_LOCAL,
                               .section = section->index};

    if (is_like_twin)
        row.name_offset =
            names_put(m, NAMES_STRTAB, sections_plain_name(m->out->sections[section->twin].name));
    else if (row.name_offset == 0)
        row.name_offset = names_put(m, NAMES_STRTAB, section->name);
    return row;
}

static struct image_symbol image_symbol_of(struct merging *m, uint32_t index)
{
    const struct merged_symbol *symbol = &m->symbols[index];
    const struct placed_symbol *placed = &m->out->placed[index];
    struct image_symbol row = {
        .name_offset = names_put(m, NAMES_STRTAB, placed->name),
        .value = placed->value,
        .size = symbol->size,
        .type = symbol->type,
        .binding = symtab_makes_local(m, index) ? STB_LOCAL : symbol->binding,
        .other = placed->other,
    };

    if (placed->section != MERGE_NONE)
        row.section = m->out->sections[placed->section].index;
    else if (symbol->file != MERGE_NONE && symbol->input_section == SECTION_ABSOLUTE)
        row.section = SECTION_ABSOLUTE;
    if (m->request->relocatable && merged_is_common(symbol)) {
        row.section = SECTION_COMMON;
        row.value = symbol->common_alignment;
    }
    /* An executable's data has no memory space, but managed data remains marked. */
    if (!m->request->relocatable && symbol->type == STT_CUDA_OBJECT &&
        !resolve_is_reserved(symbol->name)) {
        row.type = STT_OBJECT;
        row.other = placed->other &
                    (is_internal(m, index) ? STV_INTERNAL | STO_CUDA_MANAGED : STO_CUDA_MANAGED);
    }
    return row;
}

void symtab_encode(struct merging *m)
{
    for (size_t i = 0; i < m->resolved.global_count; i++) {
        uint32_t symbol = m->resolved.globals[i];

        if (symtab_writes(m, symbol) || resolve_is_unified_table(m->symbols[symbol].name))
            names_put(m, NAMES_STRTAB, m->out->placed[symbol].name);
    }
    image_put_symbol(&m->out->table, 0, &(struct image_symbol){0});
    for (size_t row = 1; row < m->out->rows.count; row++) {
        struct image_symbol symbol = {.type = STT_FUNC};

        if (m->out->rows.symbols[row] != MERGE_NONE)
            symbol = image_symbol_of(m, m->out->rows.symbols[row]);
        else if (m->out->rows.sections[row] != MERGE_NONE)
            symbol = section_symbol(m, m->out->rows.sections[row]);
        else
            symbol.name_offset = names_put(m, NAMES_STRTAB, (struct text){0});
        image_put_symbol(&m->out->table, row, &symbol);
    }
    image_end_symbols(m->image, ORDERING_SYMTAB, &m->out->table, m->out->rows.first_global);
}
