/* ordering.c: sections are ordered by class (sections.def), and within a class by creation. Only
 * those without bytes are mixed: cubin by cubin, the shared memory of its kernels before its
 * variables (measured). */
#include "merge/internal.h"

#include <stdlib.h>

/* A name's places in the string tables, to which it is added where `tables` has their bits. */
static const uint32_t *put_name(struct merging *m, unsigned tables, struct text name)
{
    struct names *names = &m->out->names;
    uint32_t next = (uint32_t)names->known.count;
    uint32_t known = table_add(&names->known, name, next);
    uint32_t *places;

    ARRAY_RESERVE(names->places, names->capacity, names->known.count);
    places = names->places[known];
    if (known == next)
        memset(places, 0, sizeof *names->places);
    for (unsigned i = 0; i < NAMES_TABLES; i++)
        if ((tables & 1u << i) && places[i] == 0)
            places[i] = image_put_string(&names->tables[i], name);
    return places;
}

uint32_t names_put(struct merging *m, enum name_table table, struct text name)
{
    return put_name(m, 1u << table, name)[table];
}

void names_cleanup(void *argument)
{
    struct names *names = argument;

    table_free(&names->known);
    free(names->places);
    buffer_free(&names->tables[NAMES_STRTAB]);
    buffer_free(&names->tables[NAMES_SHSTRTAB]);
}

const uint32_t *names_put_both(struct merging *m, struct text name)
{
    return put_name(m, 1u << NAMES_STRTAB | 1u << NAMES_SHSTRTAB, name);
}

static void take(struct merging *m, uint32_t section)
{
    if (section == MERGE_NONE || m->out->sections[section].index)
        return;
    m->out->sections[section].index = (uint32_t)(ORDERING_INDICES + m->out->order_count);
    m->out->order[m->out->order_count++] = section;
}

static void take_class(struct merging *m, enum section_class class)
{
    const struct merged_lists *classes = &m->out->classes;

    for (uint32_t i = classes->first[class]; i < classes->first[class + 1]; i++)
        take(m, classes->items[i]);
}

/* The function whose code a cubin's symbol introduces; MERGE_NONE: none. */
static uint32_t code_of(const struct merging *m, size_t file, uint32_t index)
{
    const struct cubin_symbol *input = &m->cubins[file]->symbols[index];
    uint32_t symbol = merging_symbol(m, file, index);

    return symbol != MERGE_NONE && input->type == STT_FUNC && input->section != SHN_UNDEF
               ? merging_canonical(m, symbol)
               : MERGE_NONE;
}

/* The section without bytes that holds a cubin's variable: its own, or that of all shared memory
 * outside kernels. */
static uint32_t variable_section(const struct merging *m, size_t file, uint32_t index)
{
    const struct cubin *cubin = m->cubins[file];
    const struct cubin_symbol *input = &cubin->symbols[index];
    uint32_t symbol = merging_symbol(m, file, index);
    bool has_section = cubin_has_section(cubin, input->section);

    if (symbol == MERGE_NONE || input->type != STT_CUDA_OBJECT)
        return MERGE_NONE;
    if (has_section && (cubin->sections[input->section].type == SHT_CUDA_GLOBAL ||
                        cubin->sections[input->section].type == SHT_CUDA_RESERVED_SHARED))
        return merging_place(m, file, input->section)->section;
    if (!merged_is_data(&m->symbols[symbol], STO_CUDA_SHARED) ||
        (has_section && merging_owner(m, file, input->section) != MERGE_NONE))
        return MERGE_NONE;
    return m->out->shared.debug_section;
}

/* Takes the shared memory of this cubin's kernels in the order of their code, then the sections of
 * its variables in the order of the symbols. */
static void take_without_bytes(struct merging *m, size_t file)
{
    for (uint32_t i = 1; i < m->cubins[file]->symbol_count; i++) {
        uint32_t function = code_of(m, file, i);

        if (function != MERGE_NONE)
            take(m, m->out->shared.section_of[function]);
    }
    for (uint32_t i = 1; i < m->cubins[file]->symbol_count; i++)
        take(m, variable_section(m, file, i));
}

bool ordering_is_last(const struct merging *m, const struct merged_section *section)
{
    return merging_is_mercury(m) && merged_is_bank(section, 0) &&
           (m->uses.reference_count == 0 ||
            (!m->request->relocatable && !texture_has_words(m, section->function)));
}

static void take_early(struct merging *m)
{
    for (enum section_class class = 0; class < CLASS_CONSTANT; class ++)
        take_class(m, class);
    /* Constants of the program and of functions are mixed. */
    for (size_t i = 0; i < m->out->created_count; i++) {
        const struct merged_section *section = &m->out->sections[m->out->created[i]];

        if ((section->class == CLASS_CONSTANT || section->class == CLASS_FUNCTION_CONSTANT) &&
            !ordering_is_last(m, section))
            take(m, m->out->created[i]);
    }
    /* Code is placed by the symbol of the first cubin with a definition, whichever is kept. */
    for (size_t file = 0; !m->request->relocatable && file < m->count; file++)
        for (uint32_t i = 1; i < m->cubins[file]->symbol_count; i++) {
            uint32_t function = code_of(m, file, i);

            if (function != MERGE_NONE)
                take(m, m->out->text_of[function]);
        }
    for (enum section_class class = CLASS_TEXT; class < CLASS_TWIN_TEXT; class ++)
        take_class(m, class);
}

void ordering_sections(struct merging *m)
{
    size_t count;
    const enum section_class *twins = sections_twin_order(m->request->toolkit, &count);
    LOCAL_ARENA(scratch);
    struct merged_pairs pairs = {.arena = &scratch};

    m->out->order = arena_alloc(&m->arena, m->out->section_count, sizeof *m->out->order);
    for (size_t i = 0; i < m->out->created_count; i++)
        index_lists_add(&pairs, m->out->sections[m->out->created[i]].class, m->out->created[i]);
    m->out->classes = index_lists_make(&m->arena, &pairs, CLASS_COUNT + 1);
    take_early(m);
    if (!m->request->relocatable)
        for (size_t file = 0; file < m->count; file++)
            take_without_bytes(m, file);
    for (enum section_class class = CLASS_SHARED; class < CLASS_COUNT; class ++)
        take_class(m, class);
    take_class(m, CLASS_FUNCTION_CONSTANT);
    for (size_t i = 0; m->out->has_twins && i < count; i++)
        take_class(m, twins[i]);
    for (size_t i = 0; ordering_is_extended(m) && i < m->out->order_count; i++)
        m->out->sections[m->out->order[i]].index++;
}

size_t ordering_functions(struct merging *m, uint32_t *functions)
{
    bool *is_listed = arena_zalloc(&m->arena, m->out->section_count, sizeof *is_listed);
    size_t count = 0;

    for (size_t file = 0; file < m->count; file++)
        for (uint32_t i = 1; i < m->cubins[file]->symbol_count; i++) {
            uint32_t function = code_of(m, file, i);
            uint32_t text = function == MERGE_NONE ? MERGE_NONE : m->out->text_of[function];

            if (text == MERGE_NONE || is_listed[text])
                continue;
            is_listed[text] = true;
            functions[count++] = m->out->sections[text].function;
        }
    for (size_t i = 0; i < m->out->order_count; i++)
        if (m->out->sections[m->out->order[i]].class == CLASS_TEXT && !is_listed[m->out->order[i]])
            functions[count++] = m->out->sections[m->out->order[i]].function;
    return count;
}
