/* attributes_encode.c: writes .nv.info and .nv.info.F, with what a kernel needs because of all that
 * it reaches.
 *
 * nvlink prepends records as it reads them, which reverses every list. All rules were measured on
 * nvlink 13.0. */
#include "merge/merge_steps.h"

#include <stdlib.h>

#include "base/context.h"
#include "base/search.h"
#include "diag/diag.h"
#include "facts/finalizer.h"

/* A record's payload has a 16-bit size; longer lists of externs are cut into several records. */
#define EXTERNS_PER_RECORD 16000u

#define ALIAS_MASK 0x8000u /* set in SPARSE_MMA_MASK if an aliased function is reached */

struct encoder {
    struct merging *m;
    struct buffer out;
    bool is_twin;                /* the current section is Mercury's */
    size_t file;                 /* the current cubin */
    struct info_record *records; /* of its current section, in reading order */
    size_t count;
    size_t capacity;
    uint32_t *externs; /* of the current kernel */
    size_t extern_count;
    uint32_t *extern_of; /* by symbol: the last kernel that listed it, plus 1 */
    uint32_t kernel;     /* number of the current kernel */
    uint32_t *reached;   /* from the current kernel: functions with records */
    size_t reached_count;
    uint32_t mbarriers; /* of these */
    uint16_t mma_mask;  /* of these */
    uint16_t cta_inits; /* of these */
    bool has_changes;   /* changes_functions() */
};

static void put_unbounded_stack(struct encoder *encoder)
{
    info_put_head(&encoder->out, EIFMT_SVAL, EIATTR_CRS_STACK_SIZE, 4);
    buffer_u32(&encoder->out, UINT32_MAX);
}

static void put_symbol_record(struct encoder *encoder, uint8_t attribute, uint32_t row,
                              uint32_t word)
{
    info_put_head(&encoder->out, EIFMT_SVAL, attribute, 8);
    buffer_u32(&encoder->out, row);
    buffer_u32(&encoder->out, word);
}

/* The row of a cubin's symbol; for a section symbol, that of the section that received its
 * contents. */
static uint32_t row_of(const struct merging *m, size_t file, uint32_t index)
{
    uint32_t symbol = merging_symbol(m, file, index);
    const struct cubin *cubin = m->cubins[file];
    uint32_t section;

    if (symbol != MERGE_NONE)
        return m->rows.of_symbol[symbol];
    if (cubin->symbols[index].section >= cubin->section_count)
        return 0;
    section = m->layout.places[m->section_base[file] + cubin->symbols[index].section].section;
    return section == MERGE_NONE ? 0 : m->sections[section].row;
}

/* Copies a record, replacing symbols by their rows. */
static void put_record(struct encoder *encoder, const struct info_record *record)
{
    struct merging *m = encoder->m;
    size_t words = info_symbol_words(record);
    bool has_payload = record->format == EIFMT_SVAL;

    info_put_head(&encoder->out, record->format, record->attribute,
                  has_payload ? record->payload.size : record->value);
    for (size_t i = 0; i < words; i++) {
        uint32_t row = row_of(m, encoder->file, info_word(record->payload, i));

        if (row == 0)
            MERGING_ERROR(m, "Record %#x in '%s' is for symbol %u, which is not in the output",
                          record->attribute, m->cubins[encoder->file]->name,
                          info_word(record->payload, i));
        buffer_u32(&encoder->out, row);
    }
    if (has_payload)
        buffer_append(&encoder->out, record->payload.data + words * 4,
                      record->payload.size - words * 4);
}

static void read_records(struct encoder *encoder, struct bytes rest)
{
    struct info_record record;

    while (info_next(&rest, &record))
        ARENA_PUSH(&encoder->m->arena, encoder->records, encoder->count, encoder->capacity) =
            record;
}

static void encode_program_record(struct encoder *encoder, const struct info_record *record)
{
    struct merging *m = encoder->m;
    uint32_t symbol, value;

    if (record->attribute == EIATTR_MAX_STACK_SIZE && !m->request->relocatable)
        return;
    if (attributes_is_about_program(record)) {
        put_record(encoder, record);
        return;
    }
    symbol = merging_symbol(m, encoder->file, info_word(record->payload, 0));
    if (!merging_defines(m, encoder->file, info_word(record->payload, 0)) || !m->is_live[symbol])
        return;
    value = info_word(record->payload, 1);
    if (record->attribute == EIATTR_REGCOUNT && attributes_are_summed(m, symbol))
        value = encoder->is_twin ? m->reach[symbol].twin_registers : m->reach[symbol].registers;
    put_symbol_record(encoder, record->attribute, m->rows.of_symbol[symbol], value);
}

static uint32_t stack_of(const struct encoder *encoder, uint32_t kernel)
{
    const struct reach *reach = &encoder->m->reach[kernel];

    if (reach_is_unbounded(encoder->m, kernel))
        return UINT32_MAX;
    return (uint32_t)(encoder->is_twin ? reach->twin_stack : reach->stack);
}

/* Encodes the program's records of .nv.info or, by `kind`, of its Mercury twin. */
static void encode_program(struct encoder *encoder, enum input_kind kind)
{
    struct merging *m = encoder->m;

    for (size_t file = m->count; file-- > 0;) {
        const struct cubin *cubin = m->cubins[file];

        encoder->file = file;
        encoder->count = 0;
        for (size_t i = 1; i < cubin->section_count; i++)
            if (merging_is(m, file, i, kind) && merging_owner(m, file, i) == MERGE_NONE)
                read_records(encoder, cubin->sections[i].data);
        for (size_t i = encoder->count; i-- > 0;)
            encode_program_record(encoder, &encoder->records[i]);
    }
    for (size_t i = 0; i < m->layout.kernel_count && !m->request->relocatable; i++) {
        uint32_t kernel = m->layout.kernels[i];

        put_symbol_record(encoder, EIATTR_MIN_STACK_SIZE, m->rows.of_symbol[kernel],
                          stack_of(encoder, kernel));
    }
}

/* True if an extern is bound: the function is defined and is not a kernel. Measured: kernels, which
 * device code launches, stay listed wherever they are defined. */
static bool is_bound(const struct merged_symbol *symbol)
{
    return symbol->file != MERGE_NONE && !merged_is_kernel(symbol);
}

/* Adds those of a function's externs that the link does not bind to the current list. */
static void add_externs(struct encoder *encoder, uint32_t function)
{
    const struct merging *m = encoder->m;
    struct bytes rest = m->functions[function].records;
    struct info_record record;

    while (info_next(&rest, &record))
        for (size_t i = 0; attributes_is_externs(&record) && i < record.payload.size / 4; i++) {
            uint32_t symbol =
                merging_symbol(m, m->symbols[function].file, info_word(record.payload, i));

            if (symbol == MERGE_NONE || is_bound(&m->symbols[symbol]) ||
                m->rows.of_symbol[symbol] == 0 || encoder->extern_of[symbol] == encoder->kernel ||
                (encoder->is_twin && mercury_lacks(m, symbol)))
                continue;
            encoder->extern_of[symbol] = encoder->kernel;
            encoder->externs[encoder->extern_count++] = symbol;
        }
}

static int compare_orders(const void *a, const void *b, void *functions)
{
    uint32_t x = ((const struct merged_function *)functions)[*(const uint32_t *)a].order;
    uint32_t y = ((const struct merged_function *)functions)[*(const uint32_t *)b].order;

    return COMPARE(x, y);
}

static void start_externs(struct encoder *encoder)
{
    encoder->extern_count = 0;
    encoder->kernel++;
}

/* Lists the functions that a kernel reaches through others with the flag, in the order in which
 * they were read. Measured: the program's only kernel has all functions that are kept. */
static void list_reached(struct encoder *encoder, uint32_t kernel, enum reach_flag flag)
{
    struct merging *m = encoder->m;
    bool is_only = m->layout.kernel_count == 1;
    const uint32_t *found = NULL;
    size_t count = is_only ? m->symbol_count : reach_walk(m, kernel, flag, &found);

    encoder->reached_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t function = is_only ? (uint32_t)i : found[i];

        if (m->functions[function].records.size > 0)
            encoder->reached[encoder->reached_count++] = function;
    }
    qsort_r(encoder->reached, encoder->reached_count, sizeof *encoder->reached, compare_orders,
            m->functions);
}

static void add_reached_externs(struct encoder *encoder)
{
    for (size_t i = 0; i < encoder->reached_count; i++)
        add_externs(encoder, encoder->reached[i]);
}

/* Measured: the externs of the program's only kernel are in the order of the functions, last read
 * first; if the others add nothing, its own in their order. */
static void order_all_externs(struct encoder *encoder, uint32_t kernel, size_t own)
{
    start_externs(encoder);
    add_reached_externs(encoder);
    if (encoder->extern_count == own) {
        start_externs(encoder);
        add_externs(encoder, kernel);
        return;
    }
    for (size_t i = 0; i < encoder->extern_count / 2; i++) {
        uint32_t symbol = encoder->externs[i];

        encoder->externs[i] = encoder->externs[encoder->extern_count - 1 - i];
        encoder->externs[encoder->extern_count - 1 - i] = symbol;
    }
}

/* Collects a kernel's externs: its own, then those of the functions that it reaches. */
static void collect_externs(struct encoder *encoder, uint32_t function)
{
    start_externs(encoder);
    add_externs(encoder, function);
    if (!attributes_are_summed(encoder->m, function))
        return;
    list_reached(encoder, function, REACHES_EXTERNS);
    if (encoder->m->layout.kernel_count == 1)
        order_all_externs(encoder, function, encoder->extern_count);
    else
        add_reached_externs(encoder);
}

/* Collects what the functions that a kernel reaches need together, with its own. */
static void collect_records(struct encoder *encoder, uint32_t function)
{
    const struct merging *m = encoder->m;

    encoder->reached_count = 0;
    encoder->mbarriers = 0;
    encoder->mma_mask = 0;
    encoder->cta_inits = 0;
    if (attributes_are_summed(m, function) &&
        (m->layout.kernel_count == 1 || (m->reach[function].flags & REACHES_RECORDS)))
        list_reached(encoder, function, REACHES_ANYTHING);
    for (size_t i = 0; i < encoder->reached_count; i++) {
        struct bytes rest = m->functions[encoder->reached[i]].records;
        struct info_record record;

        while (info_next(&rest, &record)) {
            if (record.attribute == EIATTR_NUM_MBARRIERS)
                encoder->mbarriers += record.value;
            else if (record.attribute == EIATTR_SPARSE_MMA_MASK)
                encoder->mma_mask |= record.value;
            else if (record.attribute == EIATTR_VRC_CTA_INIT_COUNT &&
                     record.value > encoder->cta_inits)
                encoder->cta_inits = record.value;
        }
    }
}

static void put_externs(struct encoder *encoder)
{
    for (size_t done = 0; done < encoder->extern_count;) {
        size_t count = encoder->extern_count - done;

        if (count > EXTERNS_PER_RECORD)
            count = EXTERNS_PER_RECORD;
        info_put_head(&encoder->out, EIFMT_SVAL, EIATTR_EXTERNS, count * 4);
        for (size_t i = 0; i < count; i++)
            buffer_u32(&encoder->out, encoder->m->rows.of_symbol[encoder->externs[done + i]]);
        done += count;
    }
    encoder->extern_count = 0;
}

/* Whether the link drops a function, or one needs functions outside the program. */
static bool changes_functions(const struct merging *m)
{
    for (size_t i = 0; i < m->symbol_count; i++)
        if ((m->symbols[i].type == STT_FUNC && m->symbols[i].file != MERGE_NONE &&
             !m->is_live[i]) ||
            (m->functions[i].flags & REACHES_EXTERNS))
            return true;
    return false;
}

/* A record's value in a kernel, with what it reaches. Measured: the program's only kernel keeps its
 * own count, and its own mask where the link leaves all functions as they are. */
static uint16_t summed_value(const struct encoder *encoder, const struct info_record *record,
                             uint32_t kernel)
{
    const struct merging *m = encoder->m;
    bool is_only = m->layout.kernel_count == 1;
    bool has_alias = m->reach[kernel].flags & REACHES_ALIAS;

    switch (record->attribute) {
    case EIATTR_NUM_BARRIERS:
        return (uint16_t)m->reach[kernel].barriers;
    case EIATTR_NUM_MBARRIERS:
        return (uint16_t)encoder->mbarriers;
    case EIATTR_SPARSE_MMA_MASK:
        if (is_only && !encoder->has_changes && !has_alias)
            return record->value;
        return record->value | encoder->mma_mask | (has_alias ? ALIAS_MASK : 0);
    case EIATTR_VRC_CTA_INIT_COUNT:
        return !is_only && encoder->cta_inits > record->value ? encoder->cta_inits : record->value;
    default:
        return record->value;
    }
}

/* Encodes one record of a function, with recomputed values where the link has them. */
static void encode_function_record(struct encoder *encoder, const struct info_record *record,
                                   uint32_t function)
{
    const struct merging *m = encoder->m;
    bool is_summed = attributes_are_summed(m, function);
    struct info_record changed = *record;

    if (record->attribute == EIATTR_EXTERNS) {
        put_externs(encoder);
        return;
    }
    if (is_summed && record->attribute == EIATTR_CRS_STACK_SIZE &&
        reach_is_unbounded(m, function)) {
        put_unbounded_stack(encoder);
        return;
    }
    if ((record->attribute == EIATTR_NUM_BARRIERS && m->abi == CUBIN_OLD_ABI_VERSION) ||
        (record->attribute == EIATTR_AT_ENTRY_FRAGMENTS && !is_summed && !m->request->relocatable))
        return;
    if (is_summed)
        changed.value = summed_value(encoder, record, function);
    put_record(encoder, &changed);
}

static bool has_record(const struct encoder *encoder, uint8_t attribute)
{
    for (size_t i = 0; i < encoder->count; i++)
        if (encoder->records[i].attribute == attribute)
            return true;
    return false;
}

/* Encodes a record that a function lacks, once. */
static void add_record(struct encoder *encoder, const struct info_record *record, uint32_t function)
{
    if (has_record(encoder, record->attribute))
        return;
    encode_function_record(encoder, record, function);
    ARENA_PUSH(&encoder->m->arena, encoder->records, encoder->count, encoder->capacity) = *record;
}

/* Encodes the records that a kernel lacks but the functions that it reaches have, in their order,
 * with its externs among them: those of one attribute, or with 0 all. */
static void add_reached_records(struct encoder *encoder, uint32_t kernel, uint8_t attribute)
{
    for (size_t i = 0; i < encoder->reached_count; i++) {
        struct bytes rest = encoder->m->functions[encoder->reached[i]].records;
        struct info_record record;

        while (info_next(&rest, &record))
            if (attribute && record.attribute != attribute)
                continue;
            else if (record.attribute == EIATTR_EXTERNS)
                put_externs(encoder);
            else if (attributes_is_passed_on(&record))
                add_record(encoder, &record, kernel);
    }
}

/* The same for the program's only kernel. Measured: its records are in an order of their own, and
 * it has no number of mbarriers that is 0. */
static void add_all_records(struct encoder *encoder, uint32_t kernel)
{
    static const uint8_t order[] = {EIATTR_CTAIDZ_USED,       EIATTR_RESERVED_SMEM_USED,
                                    EIATTR_TCGEN05_1CTA_USED, EIATTR_TCGEN05_2CTA_USED,
                                    EIATTR_SPARSE_MMA_MASK,   EIATTR_NUM_BARRIERS,
                                    EIATTR_NUM_MBARRIERS,     EIATTR_EXTERNS,
                                    EIATTR_AT_ENTRY_FRAGMENTS};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i] != EIATTR_NUM_MBARRIERS || encoder->mbarriers)
            add_reached_records(encoder, kernel, order[i]);
}

/* Encodes records that a function lacks but needs because of functions that it reaches. */
static void encode_added_records(struct encoder *encoder, uint32_t function)
{
    const struct merging *m = encoder->m;
    const struct info_record alias = {EIFMT_HVAL, EIATTR_SPARSE_MMA_MASK, ALIAS_MASK, {0}};
    const struct info_record barriers = {
        EIFMT_BVAL, EIATTR_NUM_BARRIERS, (uint16_t)attributes_barriers(m, function), {0}};
    bool is_summed = attributes_are_summed(m, function);

    if (is_summed && reach_is_unbounded(m, function) && !has_record(encoder, EIATTR_CRS_STACK_SIZE))
        put_unbounded_stack(encoder);
    if (m->layout.kernel_count == 1)
        add_all_records(encoder, function);
    else
        add_reached_records(encoder, function, 0);
    if (barriers.value && (is_summed || m->cubins[m->symbols[function].file]->toolkit != 0))
        add_record(encoder, &barriers, function);
    if (is_summed)
        put_externs(encoder);
    else if (!m->request->relocatable && CUBIN_FLAGS_SM(m->cubins[0]->flags) >= 90 &&
             (m->functions[function].flags & REACHES_ALIAS))
        put_record(encoder, &alias);
}

/* Nothing is claimed of code that another finalizer made. */
static void put_finalizer_records(struct encoder *encoder)
{
    const struct merging *m = encoder->m;
    const struct finalizer_record *record = NULL;

    if (m->request->relocatable || !merging_is_mercury(m) || m->is_outdated[encoder->file])
        return;
    while ((record = finalizer_next(record, m->request->arch.sm, m->request->toolkit)) != NULL)
        if (!has_record(encoder, record->attribute))
            info_put_head(&encoder->out, EIFMT_HVAL, record->attribute, record->value);
}

static void encode_function(struct encoder *encoder, const struct merged_section *section)
{
    const struct merging *m = encoder->m;

    encoder->file = m->symbols[section->function].file;
    read_records(encoder, m->cubins[encoder->file]->sections[section->input].data);
    collect_externs(encoder, section->function);
    collect_records(encoder, section->function);
    for (size_t i = encoder->count; i-- > 0;)
        encode_function_record(encoder, &encoder->records[i], section->function);
    encode_added_records(encoder, section->function);
    if (!encoder->is_twin)
        put_finalizer_records(encoder);
}

static void encode_section(struct encoder *encoder, struct merged_section *section)
{
    encoder->count = 0;
    encoder->out.size = 0;
    encoder->is_twin = merged_is_twin(section->class);
    if (section->class == CLASS_INFO)
        encode_program(encoder, INPUT_INFO);
    else if (section->class == CLASS_TWIN_INFO)
        encode_program(encoder, INPUT_TWIN_INFO);
    else
        encode_function(encoder, section);
    layout_set(encoder->m, section, buffer_bytes(&encoder->out));
}

bool attributes_encode(struct merging *m)
{
    static const enum section_class classes[] = {CLASS_INFO, CLASS_FUNCTION_INFO, CLASS_TWIN_INFO,
                                                 CLASS_TWIN_FUNCTION_INFO};
    struct encoder encoder = {.m = m, .has_changes = changes_functions(m)};

    CONTEXT_DEFER(buffer_cleanup, &encoder.out);
    encoder.externs = arena_alloc(&m->arena, m->symbol_count, sizeof(uint32_t));
    encoder.extern_of = arena_zalloc(&m->arena, m->symbol_count, sizeof(uint32_t));
    encoder.reached = arena_alloc(&m->arena, m->symbol_count, sizeof(uint32_t));
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
        for (uint32_t i = m->classes.first[classes[c]]; i < m->classes.first[classes[c] + 1]; i++)
            if (m->sections[m->classes.items[i]].index)
                encode_section(&encoder, &m->sections[m->classes.items[i]]);
    return !m->failed;
}
