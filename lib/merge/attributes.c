/* attributes.c: writes .nv.info and .nv.info.F, with what a kernel needs because of all that it
 * reaches (minilink-cubin(5), merge rule 5). nvlink prepends records as it reads them, which
 * reverses every list. All rules were measured on nvlink 13.0 to 13.5. */
#include "merge/internal.h"

#include "diag/diag.h"

/* A record's payload has a 16-bit size; longer lists of externs are cut into several records. */
#define EXTERNS_PER_RECORD 16000u

#define MERCURY_ISA_FIRST 0x100u

/* Whether a record is not about one function; the compiler writes some into every cubin. */
static bool is_about_program(const struct info_record *record)
{
    return info_symbol_words(record) == 0 || record->attribute == EIATTR_EXTERNS ||
           record->attribute == EIATTR_SAMPLER_INIT ||
           record->attribute == EIATTR_SAMPLER_FORCE_UNNORMALIZED;
}

bool attributes_has_program_records(const struct merging *m, enum input_kind infos)
{
    for (size_t i = 0; i < m->symbol_count; i++)
        if (m->symbols[i].type == STT_FUNC && m->is_live[i])
            return true;
    for (struct merging_walk at = {0}; merging_next_of(m, &at, infos);) {
        struct bytes rest = at.section->data;
        struct info_record record;

        while (merging_owner(m, at.file, at.index) == MERGE_NONE && info_next(&rest, &record))
            if (is_about_program(&record) &&
                (record.attribute != EIATTR_MAX_STACK_SIZE || m->request->relocatable))
                return true;
    }
    return false;
}

void attributes_add_sections(struct merging *m)
{
    if (attributes_has_program_records(m, INPUT_INFO))
        layout_make(m, CLASS_INFO, MERGE_NONE);
    for (size_t file = 0; file < m->count; file++)
        for (int is_kernel = 1; is_kernel >= 0; is_kernel--)
            for (size_t i = 1; i < m->cubins[file]->section_count; i++) {
                uint32_t owner = merging_owner(m, file, i);

                if (merging_is(m, file, i, INPUT_INFO) && owner != MERGE_NONE &&
                    merging_keeps(m, file, i) &&
                    merged_is_kernel(&m->symbols[owner]) == (is_kernel != 0))
                    layout_make_info(m, CLASS_FUNCTION_INFO, owner, (uint32_t)i);
            }
}

struct encoder {
    struct merging *m;
    struct buffer out;
    bool is_twin;                /* the current section is Mercury's */
    size_t file;                 /* the current cubin */
    struct info_record *records; /* of its current section, in reading order */
    size_t count;
    size_t capacity;
    bool has[UINT8_MAX + 1]; /* by attribute: the current function has it */
    struct needs needs;      /* of the current function */
};

/* Bytes of stack of a kernel. Measured: without a bound in a cycle of calls. */
static uint32_t bounded_stack(const struct merging *m, uint32_t kernel, uint64_t bytes)
{
    return reach_is_unbounded(m, kernel) || bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

static void put_word_record(struct encoder *encoder, uint8_t attribute, uint32_t word)
{
    info_put_head(&encoder->out, EIFMT_SVAL, attribute, 4);
    buffer_u32(&encoder->out, word);
}

static void put_symbol_record(struct encoder *encoder, uint8_t attribute, uint32_t row,
                              uint32_t word)
{
    info_put_head(&encoder->out, EIFMT_SVAL, attribute, 8);
    buffer_u32(&encoder->out, row);
    buffer_u32(&encoder->out, word);
}

/* The row of a cubin's symbol; for a section symbol, that of the section with its contents. */
static uint32_t row_of_input(const struct merging *m, size_t file, uint32_t index)
{
    uint32_t symbol = merging_symbol(m, file, index);
    const struct cubin *cubin = m->cubins[file];
    uint32_t section;

    if (symbol != MERGE_NONE)
        return m->out->rows.of_symbol[symbol];
    if (cubin->symbols[index].section >= cubin->section_count)
        return 0;
    section = m->out->places[m->section_base[file] + cubin->symbols[index].section].section;
    return section == MERGE_NONE ? 0 : m->out->sections[section].row;
}

/* Copies a record, replacing symbols by their rows. */
static void put_record(struct encoder *encoder, const struct info_record *record)
{
    struct merging *m = encoder->m;
    bool is_parameter = attributes_rows[record->attribute].symbols == SYMBOLS_PARAMETER;
    size_t words = info_symbol_words(record);

    info_put_head(&encoder->out, record->format, record->attribute,
                  record->format == EIFMT_SVAL ? record->payload.size : record->value);
    for (size_t i = 0; i < words; i++) {
        uint32_t row = row_of_input(m, encoder->file, info_word(record->payload, i));

        if (row == 0)
            MERGING_ERROR(m, "Record %#x in '%s' is for symbol %u, which is not in the output",
                          record->attribute, m->cubins[encoder->file]->name,
                          info_word(record->payload, i));
        buffer_u32(&encoder->out, row);
    }
    if (words == 0 && is_parameter && record->payload.size >= 4) {
        buffer_u32(&encoder->out, m->out->rows.nameless[encoder->file]);
        words = 1;
    }
    if (record->payload.size > words * 4)
        buffer_append(&encoder->out, record->payload.data + words * 4,
                      record->payload.size - words * 4);
}

static void read_section_records(struct encoder *encoder, struct bytes rest)
{
    struct info_record record;

    while (info_next(&rest, &record)) {
        ARENA_PUSH(&encoder->m->arena, encoder->records, encoder->count, encoder->capacity) =
            record;
        encoder->has[record.attribute] = true;
    }
}

static void encode_program_record(struct encoder *encoder, const struct info_record *record)
{
    struct merging *m = encoder->m;
    uint32_t symbol, value;

    if (!m->request->relocatable &&
        (record->attribute == EIATTR_MAX_STACK_SIZE ||
         attributes_pass(record->attribute, m->request->toolkit) == PASSES_PROGRAM))
        return;
    if (is_about_program(record)) {
        put_record(encoder, record);
        return;
    }
    symbol = merging_symbol(m, encoder->file, info_word(record->payload, 0));
    if (!merging_defines(m, encoder->file, info_word(record->payload, 0)) ||
        !m->is_live[merging_is_inner(m, symbol) ? m->symbols[symbol].alias : symbol])
        return;
    value = info_word(record->payload, 1);
    if (record->attribute == EIATTR_REGCOUNT && attributes_are_summed(m, symbol))
        value = encoder->is_twin ? m->reach[symbol].twin_registers : m->reach[symbol].registers;
    put_symbol_record(encoder, record->attribute, m->out->rows.of_symbol[symbol], value);
}

/* Encodes the records that functions, dead ones too, and files have for the program: the largest of
 * each. */
static void encode_passed_to_program(struct encoder *encoder)
{
    const struct merging *m = encoder->m;

    for (unsigned attribute = 0; attribute <= UINT8_MAX; attribute++) {
        uint32_t largest = 0;

        if (attributes_pass((uint8_t)attribute, m->request->toolkit) != PASSES_PROGRAM)
            continue;
        for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_INFO);) {
            struct info_record record;

            for (struct bytes rest = at.section->data; info_next(&rest, &record);)
                if (record.attribute == attribute && record.format == EIFMT_SVAL)
                    RAISE(largest, info_word(record.payload, 0));
        }
        if (largest > 0)
            put_word_record(encoder, (uint8_t)attribute, largest);
    }
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
                read_section_records(encoder, cubin->sections[i].data);
        for (size_t i = encoder->count; i-- > 0;)
            encode_program_record(encoder, &encoder->records[i]);
    }
    if (!m->request->relocatable)
        encode_passed_to_program(encoder);
    for (size_t row = 1; row < m->out->rows.count && !m->request->relocatable; row++) {
        uint32_t kernel = m->out->rows.symbols[row];

        if (kernel != MERGE_NONE && merged_is_kernel(&m->symbols[kernel]) && m->is_live[kernel])
            put_symbol_record(encoder, EIATTR_MIN_STACK_SIZE, (uint32_t)row,
                              bounded_stack(m, kernel,
                                            encoder->is_twin ? m->reach[kernel].twin_stack
                                                             : m->reach[kernel].stack));
    }
}

static void put_extern_records(struct encoder *encoder)
{
    const struct needs *needs = &encoder->needs;

    for (size_t i = 0; i < needs->extern_count; i++) {
        size_t left = needs->extern_count - i;

        if (i % EXTERNS_PER_RECORD == 0)
            info_put_head(&encoder->out, EIFMT_SVAL, EIATTR_EXTERNS,
                          4 * (left < EXTERNS_PER_RECORD ? left : EXTERNS_PER_RECORD));
        buffer_u32(&encoder->out, encoder->m->out->rows.of_symbol[needs->externs[i]]);
    }
    encoder->needs.extern_count = 0;
}

static void put_union(struct encoder *encoder, uint8_t attribute, uint32_t kernel)
{
    LOCAL_BUFFER(words);

    needs_words(&encoder->needs, attribute, kernel, &words);
    info_put_head(&encoder->out, EIFMT_SVAL, attribute, words.size);
    buffer_append(&encoder->out, words.data, words.size);
}

/* Encodes one record of a function, with recomputed values where the link has them. */
static void encode_function_record(struct encoder *encoder, const struct info_record *record,
                                   uint32_t function)
{
    const struct merging *m = encoder->m;
    enum attribute_pass pass = attributes_pass(record->attribute, m->request->toolkit);
    bool is_summed = attributes_are_summed(m, function);
    bool is_summed_list = is_summed && record->format == EIFMT_SVAL;
    struct info_record changed = *record;

    if (record->attribute == EIATTR_EXTERNS) {
        put_extern_records(encoder);
    } else if ((record->attribute == EIATTR_NUM_BARRIERS && m->abi == CUBIN_OLD_ABI_VERSION) ||
               (record->attribute == EIATTR_AT_ENTRY_FRAGMENTS && !is_summed &&
                !m->request->relocatable) ||
               (pass == PASSES_PROGRAM && !m->request->relocatable)) {
        return;
    } else if (is_summed_list && pass == PASSES_DEEPEST) {
        put_word_record(encoder, record->attribute,
                        bounded_stack(m, function, m->reach[function].call_stack));
    } else if (is_summed_list && pass == PASSES_UNION && encoder->needs.reached_count > 0) {
        put_union(encoder, record->attribute, function);
    } else {
        if (is_summed)
            changed.value = needs_value(&encoder->needs, record, function);
        put_record(encoder, &changed);
    }
}

/* Encodes a record that a function lacks, once. */
static void add_record(struct encoder *encoder, const struct info_record *record, uint32_t function)
{
    if (!encoder->has[record->attribute])
        encode_function_record(encoder, record, function);
    encoder->has[record->attribute] = true;
}

/* Encodes the records that a kernel lacks but the functions that it reaches have, in their order,
 * with its externs among them: those of one attribute, or with 0 all. */
static void add_reached_records(struct encoder *encoder, uint32_t kernel, uint8_t attribute)
{
    for (size_t i = 0; i < encoder->needs.reached_count; i++) {
        struct bytes rest = encoder->m->functions[encoder->needs.reached[i]].records;
        struct info_record record;

        while (info_next(&rest, &record))
            if (attribute && record.attribute != attribute)
                continue;
            else if (record.attribute == EIATTR_EXTERNS)
                put_extern_records(encoder);
            else if (records_is_passed_on(encoder->m, &record))
                add_record(encoder, &record, kernel);
    }
}

/* The same for the program's only kernel. Measured: its records are in an order of their own, and
 * it has no number of barriers or mbarriers that is 0. */
static void add_all_records(struct encoder *encoder, uint32_t kernel)
{
    /* clang-format off */
    static const uint8_t order[] = {
        EIATTR_CTAIDZ_USED, EIATTR_RESERVED_SMEM_USED, EIATTR_CLUSTER_LAUNCH_CONTROL_USED,
        EIATTR_VRC_CTA_INIT_COUNT, EIATTR_TCGEN05_1CTA_USED, EIATTR_TCGEN05_2CTA_USED,
        EIATTR_NUM_BARRIERS, EIATTR_REG_RECONFIG, EIATTR_NUM_MBARRIERS, EIATTR_EXTERNS,
        EIATTR_LANGUAGE, EIATTR_AT_ENTRY_FRAGMENTS, EIATTR_GRID_ATTRIBUTES};
    /* clang-format on */

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if ((order[i] != EIATTR_NUM_MBARRIERS || encoder->needs.values[EIATTR_NUM_MBARRIERS]) &&
            (order[i] != EIATTR_NUM_BARRIERS || encoder->m->reach[kernel].barriers))
            add_reached_records(encoder, kernel, order[i]);
}

/* Encodes records that a function lacks but needs because of functions that it reaches. */
static void encode_added_records(struct encoder *encoder, uint32_t function)
{
    const struct merging *m = encoder->m;
    const struct info_record mask = {EIFMT_HVAL, EIATTR_SPARSE_MMA_MASK, NEEDS_ALIAS_MASK, {0}};
    const struct info_record barriers = {
        EIFMT_BVAL, EIATTR_NUM_BARRIERS, (uint16_t)attributes_barriers(m, function), {0}};
    uint32_t call_stack = bounded_stack(m, function, m->reach[function].call_stack);
    bool is_summed = attributes_are_summed(m, function);

    if (is_summed && call_stack > 0 && !encoder->has[EIATTR_CRS_STACK_SIZE])
        put_word_record(encoder, EIATTR_CRS_STACK_SIZE, call_stack);
    if (encoder->needs.has_masks && !m->request->relocatable)
        add_record(encoder, &mask, function);
    if (encoder->needs.is_only)
        add_all_records(encoder, function);
    else
        add_reached_records(encoder, function, 0);
    if (barriers.value && (is_summed || m->cubins[m->symbols[function].file]->toolkit != 0))
        add_record(encoder, &barriers, function);
    if (is_summed)
        put_extern_records(encoder);
    else if (!m->request->relocatable && encoder->needs.has_masks &&
             (m->functions[function].flags & REACHES_ALIAS))
        put_record(encoder, &mask);
}

/* Nothing is claimed of code that another finalizer made. */
static void put_finalizer_records(struct encoder *encoder)
{
    const struct merging *m = encoder->m;
    const struct finalizer_record *record = NULL;

    if (m->request->relocatable || !merging_is_mercury(m) || m->out->is_outdated[encoder->file])
        return;
    while ((record = attributes_of_finalizer(record, m->request->arch.sm, m->request->toolkit)) !=
           NULL)
        if (!encoder->has[record->attribute])
            info_put_head(&encoder->out, EIFMT_BVAL, record->attribute, record->value);
}

static void encode_function(struct encoder *encoder, const struct merged_section *section)
{
    const struct merging *m = encoder->m;

    encoder->file = m->symbols[section->function].file;
    memset(encoder->has, 0, sizeof encoder->has);
    read_section_records(encoder, m->cubins[encoder->file]->sections[section->input].data);
    needs_collect(&encoder->needs, section->function, encoder->is_twin);
    /* Cubins of CUDA 12.9 do not say of which version their Mercury form is: it was the first
     * (measured on nvlink 13.0, 13.3 and 13.5). */
    if (merging_is_mercury(m) && !merging_is_first_mercury(m) &&
        !encoder->has[EIATTR_MERCURY_ISA_VERSION])
        info_put_head(&encoder->out, EIFMT_HVAL, EIATTR_MERCURY_ISA_VERSION, MERCURY_ISA_FIRST);
    for (size_t i = encoder->count; i-- > 0;)
        if (needs_moves(&encoder->needs, encoder->records[i].attribute, section->function))
            encoder->has[encoder->records[i].attribute] = false; /* it is added behind the others */
        else
            encode_function_record(encoder, &encoder->records[i], section->function);
    encode_added_records(encoder, section->function);
    if (encoder->is_twin)
        return;
    /* Measured on nvlink 13.0 and 13.5: from sm_100 on kernels with words for references
     * (texture.c) have bank 0 for them. */
    if (merging_is_mercury(m) && texture_has_words(m, section->function)) {
        info_put_head(&encoder->out, EIFMT_BVAL, EIATTR_BINDLESS_TEXTURE_BANK, 0);
        info_put_head(&encoder->out, EIFMT_BVAL, EIATTR_BINDLESS_SURFACE_BANK, 0);
    }
    put_finalizer_records(encoder);
}

bool attributes_encode(struct merging *m)
{
    struct encoder encoder = {.m = m};

    CONTEXT_DEFER(buffer_cleanup, &encoder.out);
    needs_begin(&encoder.needs, m);
    for (size_t i = 0; i < m->out->order_count; i++) {
        const struct merged_section *section = &m->out->sections[m->out->order[i]];

        encoder.count = 0;
        encoder.out.size = 0;
        encoder.is_twin = merged_is_twin(section->class);
        if (section->class == CLASS_INFO || section->class == CLASS_TWIN_INFO)
            encode_program(&encoder, encoder.is_twin ? INPUT_TWIN_INFO : INPUT_INFO);
        else if (section->class == CLASS_FUNCTION_INFO ||
                 section->class == CLASS_TWIN_FUNCTION_INFO)
            encode_function(&encoder, section);
        else
            continue;
        layout_set(m, m->out->order[i], buffer_bytes(&encoder.out));
    }
    return !m->failed;
}
