/* symtab.c: rows of the symbol table, in nvlink's order.
 *
 * Cubin by cubin: notes, code and functions that are local or weak, then the other locals; the
 * linker's own sections; then the globals, again cubin by cubin. A weak symbol that a strong
 * definition replaced keeps its place among the locals. Shared variables, internal constants and
 * dead functions are not written (all measured on nvlink 13.0). */
#include "merge/symtab.h"

#include "merge/constants.h"
#include "merge/layout.h"
#include "merge/merging_inputs.h"
#include "merge/ordering.h"
#include "merge/resolve.h"
#include "merge/shared.h"
#include "merge/texture.h"
#include "merge/twins.h"

struct builder {
    const struct merging *m;
    struct rows *rows;
    uint32_t *symbols;
    uint32_t *sections;
    uint32_t *of_symbol;
    uint32_t *of_section;
};

static void add_row(struct builder *builder, uint32_t symbol, uint32_t section)
{
    builder->symbols[builder->rows->count] = symbol;
    builder->sections[builder->rows->count++] = section;
}

static void add_section(struct builder *builder, uint32_t section)
{
    if (section == MERGE_NONE || builder->of_section[section] ||
        builder->m->sections[section].class == CLASS_COUNT)
        return;
    builder->of_section[section] = (uint32_t)builder->rows->count;
    add_row(builder, MERGE_NONE, section);
}

static bool is_internal(const struct merging *m, uint32_t symbol)
{
    return ELF64_ST_VISIBILITY(m->placed[symbol].other) == STV_INTERNAL;
}

static bool is_written(const struct merging *m, uint32_t index)
{
    const struct merged_symbol *symbol = &m->symbols[index];
    uint32_t section = m->placed[index].section;

    if (symbol->type == STT_FUNC)
        return m->is_live[index] || (symbol->file != MERGE_NONE && symbol->alias != MERGE_NONE &&
                                     m->is_live[symbol->alias]);
    if (m->request->relocatable)
        return true;
    if (resolve_is_unified_table(symbol->name))
        return false;
    if (merged_is_data(symbol, STO_CUDA_SHARED))
        return merging_keeps_all(m) && section != MERGE_NONE;
    if (symbol->type != STT_CUDA_OBJECT || !is_internal(m, index))
        return true;
    return m->request->preserve_relocations && section != MERGE_NONE &&
           m->sections[section].class != CLASS_COUNT;
}

static void add_symbol(struct builder *builder, uint32_t index)
{
    if (!is_written(builder->m, index))
        return;
    builder->of_symbol[index] = (uint32_t)builder->rows->count;
    add_row(builder, index, MERGE_NONE);
}

/* Where the section went that a cubin's section symbol names: for a losing copy of a function, to
 * the winner's. */
static uint32_t section_named(const struct merging *m, size_t file, uint32_t index)
{
    uint32_t input = m->cubins[file]->symbols[index].section;
    uint32_t placed = m->layout->places[m->section_base[file] + input].section;
    const struct cubin_section *section;
    uint32_t owner;

    if (placed != MERGE_NONE)
        return placed;
    section = &m->cubins[file]->sections[input];
    owner = merging_owner(m, file, input);
    if (owner != MERGE_NONE && cubin_is_text(section))
        return m->layout->text_of[owner];
    if (owner != MERGE_NONE && section->type == SHT_CUDA_SHARED)
        return m->shared->section_of[owner];
    if (section->type == SHT_NOTE)
        return table_find(&m->section_names, section->name);
    return MERGE_NONE;
}

/* A kernel's shared memory has a row unless it is empty and of the linker's making. From sm_100 on
 * what the driver reserves does not count (measured). */
static bool is_shared_named(const struct merging *m, uint32_t kernel, uint32_t section)
{
    uint64_t reserve = merging_is_mercury(m) ? SHARED_RESERVED_SM90 : 0;

    return m->shared->is_given[kernel] || m->sections[section].size > reserve;
}

static bool is_debug_shared_named(const struct merging *m, const struct merged_section *section)
{
    return merging_keeps_all(m) &&
           section->size > (merging_is_mercury(m) ? SHARED_RESERVED_SM90 : 0);
}

/* It stands behind the kernel's code. */
static void add_shared(struct builder *builder, uint32_t kernel)
{
    const struct merging *m = builder->m;
    uint32_t section = kernel == MERGE_NONE ? MERGE_NONE : m->shared->section_of[kernel];

    if (section != MERGE_NONE && is_shared_named(m, kernel, section))
        add_section(builder, section);
}

/* From sm_100 on constant bank 0 of kernels ends the table, behind the globals, unless the link
 * adds words for texture references to it. */
static bool stands_last(const struct merging *m, uint32_t section)
{
    return merging_is_mercury(m) && section != MERGE_NONE && m->texture_names->count == 0 &&
           m->sections[section].class == CLASS_FUNCTION_CONSTANT && m->sections[section].bank == 0;
}

static void add_local(struct builder *builder, const struct merged_local *local)
{
    const struct merging *m = builder->m;
    uint32_t input, section;

    if (!local->is_section) {
        add_symbol(builder, local->index);
        return;
    }
    section = section_named(m, local->file, local->index);
    if (stands_last(m, section))
        return;
    input = m->cubins[local->file]->symbols[local->index].section;
    add_section(builder, section);
    if (cubin_is_text(&m->cubins[local->file]->sections[input]))
        add_shared(builder, merging_owner(m, local->file, input));
}

/* Cubins of CUDA 12 have no symbols of them. */
static void add_notes(struct builder *builder)
{
    const struct merging *m = builder->m;

    for (size_t i = 0; m->cubins[0]->toolkit && i < m->order_count; i++)
        if (text_starts(m->sections[m->order[i]].name, TEXT(".note.nv.")))
            add_section(builder, m->order[i]);
}

static void add_linker_sections(struct builder *builder)
{
    const struct merging *m = builder->m;
    static const enum merged_class classes[] = {CLASS_CALLGRAPH, CLASS_PROTOTYPE, CLASS_REL_ACTION};

    for (size_t i = 0; i < m->order_count; i++) {
        const struct merged_section *section = &m->sections[m->order[i]];

        if ((section->class >= CLASS_SHARED && section->size &&
             (section->class != CLASS_DEBUG_SHARED || is_debug_shared_named(m, section)) &&
             (section->class != CLASS_SHARED ||
              is_shared_named(m, section->function, m->order[i]))) ||
            (section->class == CLASS_FUNCTION_CONSTANT && section->bank == CONSTANTS_BANK))
            add_section(builder, m->order[i]);
    }
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
        for (uint32_t i = m->classes->first[classes[c]]; i < m->classes->first[classes[c] + 1]; i++)
            if (m->index_of[m->classes->items[i]])
                add_section(builder, m->classes->items[i]);
}

static void add_last(struct builder *builder, const struct merged_local *local)
{
    uint32_t section = section_named(builder->m, local->file, local->index);

    if (stands_last(builder->m, section))
        add_section(builder, section);
}

/* Twins have the rows of their sections. */
static void share_rows(struct builder *builder)
{
    const struct merging *m = builder->m;

    for (size_t i = 0; m->has_twins && i < m->twin_pairs->count; i++)
        if (m->twin_pairs->twin_of[i] != MERGE_NONE)
            builder->of_section[m->twin_pairs->twin_of[i]] = builder->of_section[i];
}

static void begin(struct builder *builder, struct merging *m)
{
    size_t most = 1 + m->symbol_count + m->section_count;

    builder->m = m;
    builder->symbols = arena_alloc(&m->arena, most, sizeof(uint32_t));
    builder->sections = arena_alloc(&m->arena, most, sizeof(uint32_t));
    builder->of_symbol = arena_zalloc(&m->arena, m->symbol_count, sizeof(uint32_t));
    builder->of_section = arena_zalloc(&m->arena, m->section_count, sizeof(uint32_t));
    builder->rows = arena_alloc(&m->arena, 1, sizeof *builder->rows);
    *builder->rows = (struct rows){
        .symbols = builder->symbols,
        .sections = builder->sections,
        .of_symbol = builder->of_symbol,
        .of_section = builder->of_section,
    };
}

void symtab_assign(struct merging *m)
{
    const struct resolution *resolved = m->resolved;
    struct builder builder;

    begin(&builder, m);
    add_row(&builder, MERGE_NONE, MERGE_NONE); /* the null symbol */
    add_notes(&builder);
    for (size_t i = 0; i < resolved->local_count; i++)
        add_local(&builder, &resolved->locals[i]);
    add_linker_sections(&builder);
    builder.rows->first_global = builder.rows->count;
    for (size_t i = 0; i < resolved->global_count; i++)
        add_symbol(&builder, resolved->globals[i]);
    builder.rows->twin_count = builder.rows->count;
    for (size_t i = 0; merging_is_mercury(m) && i < resolved->local_count; i++)
        if (resolved->locals[i].is_section)
            add_last(&builder, &resolved->locals[i]);
    share_rows(&builder);
    m->rows = builder.rows;
}

static struct image_symbol section_symbol(const struct merging *m, uint32_t index)
{
    const struct merged_section *section = &m->sections[index];

    return (struct image_symbol){.name = section->name,
                                 .name_offset = section->name_offset,
                                 .type = STT_SECTION,
                                 .binding = STB_LOCAL,
                                 .section = m->index_of[index]};
}

static struct image_symbol image_symbol_of(const struct merging *m, uint32_t index)
{
    const struct merged_symbol *symbol = &m->symbols[index];
    const struct placed_symbol *placed = &m->placed[index];
    struct image_symbol row = {
        .name = placed->name,
        .value = placed->value,
        .size = symbol->size,
        .type = symbol->type,
        .binding = symbol->binding,
        .other = placed->other,
    };

    if (placed->section != MERGE_NONE)
        row.section = m->index_of[placed->section];
    else if (symbol->file != MERGE_NONE && symbol->input_section == SECTION_ABSOLUTE)
        row.section = SECTION_ABSOLUTE;
    if (m->request->relocatable && merged_is_common(symbol)) {
        row.section = SECTION_COMMON;
        row.value = symbol->common_alignment;
    }
    /* An executable's data has no memory space any more, but managed data stays marked. */
    if (!m->request->relocatable && symbol->type == STT_CUDA_OBJECT &&
        !resolve_is_reserved(symbol->name)) {
        row.type = STT_OBJECT;
        row.other = placed->other &
                    (is_internal(m, index) ? STV_INTERNAL | STO_CUDA_MANAGED : STO_CUDA_MANAGED);
    }
    return row;
}

void symtab_begin(struct merging *m)
{
    image_begin_symbols(m->image, ORDERING_SYMTAB, m->rows->count,
                        m->image->section_count + m->order_count, &m->strings, &m->table);
}

void symtab_encode(struct merging *m)
{
    image_put_symbol(&m->table, 0, &(struct image_symbol){0});
    for (size_t row = 1; row < m->rows->count; row++) {
        bool is_section = m->rows->symbols[row] == MERGE_NONE;
        struct image_symbol symbol = is_section ? section_symbol(m, m->rows->sections[row])
                                                : image_symbol_of(m, m->rows->symbols[row]);

        image_put_symbol(&m->table, row, &symbol);
    }
    image_end_symbols(m->image, ORDERING_SYMTAB, &m->table);
    /* A weak symbol that became global stands before the first one that sh_info means. */
    m->image->sections[ORDERING_SYMTAB].info = (uint32_t)m->rows->first_global;
}
