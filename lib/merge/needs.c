/* needs.c: collects what a kernel needs because of the functions that it reaches: their records and
 * externs. All rules were measured on nvlink 13.0 to 13.5. */
#include "merge/internal.h"

#include <stdlib.h>

/* Adds those of a function's externs that the link does not bind to the current list. Measured:
 * kernels, which device code launches, stay listed wherever they are defined. */
static void add_function_externs(struct needs *needs, uint32_t function)
{
    const struct merging *m = needs->m;
    struct bytes rest = m->functions[function].records;
    struct info_record record;

    if (!(m->functions[function].flags & REACHES_EXTERNS))
        return;
    while (info_next(&rest, &record))
        for (size_t i = 0; records_is_externs(&record) && i < record.payload.size / 4; i++) {
            uint32_t symbol =
                merging_symbol(m, m->symbols[function].file, info_word(record.payload, i));

            if (symbol == MERGE_NONE ||
                (m->symbols[symbol].file != MERGE_NONE && !merged_is_kernel(&m->symbols[symbol])) ||
                m->out->rows.of_symbol[symbol] == 0 || needs->extern_of[symbol] == needs->kernel ||
                (needs->is_twin && mercury_lacks(m, symbol)))
                continue;
            needs->extern_of[symbol] = needs->kernel;
            needs->externs[needs->extern_count++] = symbol;
        }
}

/* Symbols by what an array has for each. */
static int compare_keys(const void *a, const void *b, void *keys)
{
    return COMPARE(((const uint32_t *)keys)[*(const uint32_t *)a],
                   ((const uint32_t *)keys)[*(const uint32_t *)b]);
}

/* Lists the functions that a kernel reaches through others with the flag, in the order in which
 * they were read. Measured: the program's only kernel has all functions that are kept. */
static void list_reached(struct needs *needs, uint32_t kernel, enum reach_flag flag)
{
    struct merging *m = needs->m;
    const uint32_t *found = NULL;
    size_t count = needs->is_only ? m->symbol_count : reach_walk(m, kernel, flag, &found);

    for (size_t i = 0; i < count; i++) {
        uint32_t function = needs->is_only ? (uint32_t)i : found[i];

        if (m->functions[function].records.size > 0)
            needs->reached[needs->reached_count++] = function;
    }
    qsort_r(needs->reached, needs->reached_count, sizeof *needs->reached, compare_keys,
            m->info_order);
}

/* Begins the current list with the externs of some functions. */
static void start_externs(struct needs *needs, const uint32_t *functions, size_t count)
{
    needs->extern_count = 0;
    needs->kernel++;
    for (size_t i = 0; i < count; i++)
        add_function_externs(needs, functions[i]);
}

/* Measured: if other functions add nothing to the externs of the program's only kernel, it has its
 * own in their order. */
static void order_all_externs(struct needs *needs, uint32_t kernel, size_t own)
{
    start_externs(needs, needs->reached, needs->reached_count);
    needs->adds_externs = needs->extern_count != own;
    if (!needs->adds_externs) {
        start_externs(needs, &kernel, 1);
        return;
    }
    if (merging_does(needs->m, TOOLKIT_SORTS_EXTERNS)) {
        qsort_r(needs->externs, needs->extern_count, sizeof *needs->externs, compare_keys,
                needs->m->out->rows.of_symbol);
        return;
    }
    for (size_t i = 0; i < needs->extern_count / 2; i++) {
        uint32_t symbol = needs->externs[i];

        needs->externs[i] = needs->externs[needs->extern_count - 1 - i];
        needs->externs[needs->extern_count - 1 - i] = symbol;
    }
}

static bool has_attribute(struct bytes rest, uint8_t attribute)
{
    struct info_record record;
    bool found = false;

    while (!found && info_next(&rest, &record))
        found = record.attribute == attribute;
    return found;
}

static void collect_record(struct needs *needs, const struct info_record *record)
{
    uint16_t *value = &needs->values[record->attribute];

    switch (attributes_pass(record->attribute, needs->m->request->toolkit)) {
    case PASSES_SUM:
        if (record->value == UINT16_MAX || *value == UINT16_MAX)
            *value = UINT16_MAX;
        else
            *value = (uint16_t)(*value + record->value);
        break;
    case PASSES_OR:
    case PASSES_MASK:
        *value |= record->value;
        break;
    case PASSES_MOST_OF_SEVERAL:
        RAISE(*value, record->value);
        break;
    default:
        break;
    }
}

uint16_t needs_value(const struct needs *needs, const struct info_record *record, uint32_t kernel)
{
    const struct merging *m = needs->m;
    bool has_alias = m->reach[kernel].flags & REACHES_ALIAS;
    uint16_t together = needs->values[record->attribute];

    switch (attributes_pass(record->attribute, needs->m->request->toolkit)) {
    case PASSES_MOST:
        return (uint16_t)m->reach[kernel].barriers;
    case PASSES_SUM:
    case PASSES_OR:
        return together;
    case PASSES_MASK:
        if (needs->is_only && !needs->has_changes && !has_alias && !needs->lacks_masks)
            return record->value;
        return record->value | together | (has_alias ? NEEDS_ALIAS_MASK : 0);
    case PASSES_MOST_OF_SEVERAL:
        return needs->is_only && has_attribute(m->functions[kernel].records, record->attribute)
                   ? record->value
                   : together;
    default:
        return record->value;
    }
}

/* The words of all records with this attribute in `rest`, each once. */
static void add_words(struct buffer *words, struct bytes rest, uint8_t attribute)
{
    struct info_record record;

    while (info_next(&rest, &record))
        for (size_t i = 0; record.attribute == attribute && i < record.payload.size / 4; i++) {
            uint32_t word = info_word(record.payload, i);
            size_t k = 0;

            while (k < words->size / 4 && info_word(buffer_bytes(words), k) != word)
                k++;
            if (k == words->size / 4 && words->size < UINT16_MAX / 4 * 4)
                buffer_u32(words, word);
        }
}

bool needs_moves(const struct needs *needs, uint8_t attribute, uint32_t kernel)
{
    struct buffer words = {0};
    size_t own;

    if (attribute == EIATTR_EXTERNS)
        return needs->adds_externs;
    if (!needs->is_only || needs->reached_count == 0 ||
        attributes_pass(attribute, needs->m->request->toolkit) != PASSES_UNION)
        return false;
    CONTEXT_DEFER(buffer_cleanup, &words);
    add_words(&words, needs->m->functions[kernel].records, attribute);
    own = words.size;
    needs_words(needs, attribute, kernel, &words);
    return words.size > own;
}

void needs_begin(struct needs *needs, struct merging *m)
{
    *needs = (struct needs){
        .m = m,
        .is_only = m->out->kernel_count == 1,
        .externs = arena_alloc(&m->arena, m->symbol_count, sizeof(uint32_t)),
        .extern_of = arena_zalloc(&m->arena, m->symbol_count, sizeof(uint32_t)),
        .reached = arena_alloc(&m->arena, m->symbol_count, sizeof(uint32_t)),
    };
    for (size_t i = 0; i < m->symbol_count; i++) {
        bool has_mask = m->functions[i].flags & REACHES_MASK;

        if (m->symbols[i].type == STT_FUNC && (m->symbols[i].file != MERGE_NONE) != m->is_live[i])
            needs->has_changes = true;
        if (m->is_live[i] && m->functions[i].records.size > 0)
            *(has_mask ? &needs->has_masks : &needs->lacks_masks) = true;
    }
}

void needs_collect(struct needs *needs, uint32_t function, bool is_twin)
{
    unsigned reaches = needs->m->reach[function].flags;

    needs->is_twin = is_twin;
    needs->adds_externs = false;
    needs->reached_count = 0;
    memset(needs->values, 0, sizeof needs->values);
    start_externs(needs, &function, 1);
    if (!attributes_are_summed(needs->m, function))
        return;
    if (needs->is_only || (reaches & (REACHES_RECORDS | REACHES_EXTERNS)))
        list_reached(needs, function,
                     reaches & REACHES_RECORDS ? REACHES_ANYTHING : REACHES_EXTERNS);
    if (needs->is_only)
        order_all_externs(needs, function, needs->extern_count);
    else
        for (size_t i = 0; i < needs->reached_count; i++)
            add_function_externs(needs, needs->reached[i]);
    if (!needs->is_only && !(reaches & REACHES_RECORDS))
        needs->reached_count = 0;
    for (size_t i = 0; i < needs->reached_count; i++) {
        const struct merged_function *reached = &needs->m->functions[needs->reached[i]];
        struct info_record record;

        if (!(reached->flags & REACHES_MASK))
            needs->values[EIATTR_SPARSE_MMA_MASK] |= NEEDS_ALIAS_MASK;
        for (struct bytes rest = reached->records; info_next(&rest, &record);)
            collect_record(needs, &record);
    }
}

void needs_words(const struct needs *needs, uint8_t attribute, uint32_t kernel,
                 struct buffer *words)
{
    const struct merging *m = needs->m;

    if (!needs->is_only)
        add_words(words, m->functions[kernel].records, attribute);
    for (size_t i = 0; i < needs->reached_count; i++)
        add_words(words, m->functions[needs->reached[i]].records, attribute);
}
