/* reserved.c: variables in the shared memory that the driver reserves.
 *
 * Compilers declare weak variables there: one of 128 bytes in every cubin for sm_110, one of 32 for
 * code that allocates tensor memory (sm_100a and later). As with other shared variables the value
 * is the alignment before the link. The link keeps each name once, whether code names it or not,
 * places the strictest first and the smaller before the larger, and begins behind 0x40 bytes that
 * are the driver's own; the twin does not count these, and is zeroes. Measured on nvlink 13.0. */
#include "merge/merge_steps.h"

#include "diag/diag.h"
#include "merge/sort.h"

#define DRIVERS_OWN 0x40u

static bool is_before(const void *context, uint32_t a, uint32_t b)
{
    const struct merged_symbol *x = (const struct merged_symbol *)context + a;
    const struct merged_symbol *y = (const struct merged_symbol *)context + b;

    return x->value != y->value ? x->value > y->value : x->size < y->size;
}

static size_t list_variables(const struct merging *m, uint32_t *variables)
{
    size_t count = 0;

    for (uint32_t i = 0; i < m->symbol_count; i++)
        if (merged_is_data(&m->symbols[i], STO_CUDA_RESERVED_SHARED) &&
            m->placed[i].section != MERGE_NONE &&
            m->sections[m->placed[i].section].class == CLASS_RESERVED)
            variables[count++] = i;
    return count;
}

static void set_sections(struct merging *m, uint64_t alignment, uint64_t size, uint64_t twin_size)
{
    for (size_t i = 0; i < m->section_count; i++) {
        struct merged_section *section = &m->sections[i];

        if (section->class != CLASS_RESERVED && section->class != CLASS_TWIN_RESERVED)
            continue;
        section->alignment = alignment;
        section->size = section->class == CLASS_RESERVED ? size : twin_size;
        if (section->class == CLASS_TWIN_RESERVED)
            section->data = arena_zalloc(&m->image->arena, twin_size, 1);
    }
}

bool reserved_layout(struct merging *m)
{
    uint32_t *variables = arena_alloc(&m->arena, m->symbol_count, sizeof *variables);
    uint32_t *scratch = arena_alloc(&m->arena, m->symbol_count, sizeof *scratch);
    uint64_t base = m->request->relocatable ? 0 : DRIVERS_OWN;
    size_t count = list_variables(m, variables);
    uint64_t alignment = 1;
    uint64_t end = base;

    sort_unstably(variables, count, scratch, is_before, m->symbols);
    for (size_t i = 0; i < count; i++) {
        const struct merged_symbol *symbol = &m->symbols[variables[i]];
        uint64_t place = merged_align(end, symbol->value);

        if (symbol->value > alignment)
            alignment = symbol->value;
        end = place + symbol->size;
        if (symbol->size > SHARED_RESERVED_SM90 || end > SHARED_RESERVED_SM90) {
            diag_error("The variables in section '.nv.shared.reserved.0', '%.*s' in '%s' among "
                       "them, need more than the %#x bytes that the driver reserves",
                       TEXT_ARG(symbol->name), m->cubins[symbol->file]->name, SHARED_RESERVED_SM90);
            return false;
        }
        if (!m->request->relocatable)
            m->placed[variables[i]].value = place;
    }
    set_sections(m, alignment, end, end - base);
    return true;
}

uint64_t reserved_twin_value(const struct merging *m, uint32_t variable)
{
    return m->placed[variable].value - (m->request->relocatable ? 0 : DRIVERS_OWN);
}
