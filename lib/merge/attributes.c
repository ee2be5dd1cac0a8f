/* attributes.c: .nv.info and .nv.info.F.
 *
 * The driver reads from these records what a kernel needs: registers, barriers, stack. ptxas only
 * knows what each function needs by itself, so the linker recomputes a kernel's records from all
 * that it can reach; device functions keep their own. nvlink prepends records as it reads them,
 * which reverses every list. All rules were measured on nvlink 13.0. */
#include "merge/merge_steps.h"

#include <stdlib.h>

#include "base/context.h"
#include "base/search.h"
#include "diag/diag.h"

/* A record's payload has a 16-bit size; longer lists of externs are cut into several records. */
#define EXTERNS_PER_RECORD 16000u

#define ALIAS_MASK 0x8000u /* set in SPARSE_MMA_MASK if an aliased function is reached */

struct encoder {
    struct merging *m;
    struct buffer out;
    size_t file;                 /* the current cubin */
    struct info_record *records; /* of its current section, in reading order */
    size_t count;
    size_t capacity;
    uint32_t *externs; /* of the current kernel */
    size_t extern_count;
    uint32_t *extern_of; /* by symbol: the last kernel that listed it, plus 1 */
    uint32_t kernel;     /* number of the current kernel */
    uint32_t *reached;   /* from the current kernel: functions with externs */
    size_t reached_count;
};

/* nvlink: "Internal error: no regcount?"; not under -r. */
static void check_is_function(struct merging *m, size_t file, uint32_t symbol)
{
    if (m->request->relocatable || m->cubins[file]->symbols[symbol].type == STT_FUNC)
        return;
    MERGING_ERROR(m, "'%s' says how many registers symbol %u needs, which is no function",
                  m->cubins[file]->name, symbol);
}

static void gather_program_records(struct merging *m, size_t file, struct bytes rest)
{
    struct info_record record;

    while (info_next(&rest, &record)) {
        uint32_t symbol;

        if (record.format != EIFMT_SVAL ||
            (record.attribute != EIATTR_REGCOUNT && record.attribute != EIATTR_FRAME_SIZE))
            continue;
        if (record.attribute == EIATTR_REGCOUNT)
            check_is_function(m, file, info_word(record.payload, 0));
        symbol = merging_symbol(m, file, info_word(record.payload, 0));
        if (symbol == MERGE_NONE || m->symbols[symbol].file != file)
            continue;
        if (record.attribute == EIATTR_REGCOUNT)
            m->functions[symbol].registers = info_word(record.payload, 1);
        else
            m->functions[symbol].frame = info_word(record.payload, 1);
    }
}

static void gather_function_records(struct merged_function *function, size_t file,
                                    struct bytes rest)
{
    struct info_record record;

    while (info_next(&rest, &record)) {
        if (record.attribute == EIATTR_NUM_BARRIERS) {
            function->barriers = record.value;
        } else if (record.attribute == EIATTR_MAXREG_COUNT) {
            function->most_registers = record.value;
        } else if (record.attribute == EIATTR_EXTERNS && record.format == EIFMT_SVAL) {
            function->externs = record.payload;
            function->externs_file = (uint32_t)file;
        }
    }
}

/* Reads barrier counts from sh_flags of code of CUDA 12. */
static void gather_flags(struct merging *m, size_t file)
{
    const struct cubin *cubin = m->cubins[file];

    for (size_t i = 1; cubin->toolkit && i < cubin->section_count; i++) {
        uint32_t owner = merging_owner(m, file, i);

        if (cubin_is_text(&cubin->sections[i]) && owner != MERGE_NONE && merging_keeps(m, file, i))
            m->functions[owner].barriers =
                (uint32_t)(cubin->sections[i].flags & CUBIN_OLD_BARRIERS) >>
                CUBIN_OLD_BARRIERS_SHIFT;
    }
}

void attributes_gather(struct merging *m)
{
    uint32_t order = 0;

    m->functions = arena_zalloc(&m->arena, m->symbol_count, sizeof *m->functions);
    for (size_t i = 0; i < m->symbol_count; i++) {
        m->functions[i].order = MERGE_NONE;
        if (m->symbols[i].alias != MERGE_NONE)
            m->functions[m->symbols[i].alias].flags |= REACHES_ALIAS;
    }
    for (size_t file = 0; file < m->count; file++)
        gather_flags(m, file);
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_INFO);) {
        uint32_t owner = merging_owner(m, at.file, at.index);

        if (owner == MERGE_NONE) {
            gather_program_records(m, at.file, at.section->data);
        } else if (merging_keeps(m, at.file, at.index)) {
            m->functions[owner].order = order++;
            gather_function_records(&m->functions[owner], at.file, at.section->data);
        }
    }
}

/* Whether the link recomputes a function's records from all that it reaches. */
static bool is_summed(const struct merging *m, uint32_t function)
{
    return merged_is_kernel(&m->symbols[function]) && !m->request->relocatable;
}

uint32_t attributes_barriers(const struct merging *m, uint32_t function)
{
    return is_summed(m, function) ? m->reach[function].barriers : m->functions[function].barriers;
}

/* Whether a record is not about one function; the compiler writes some into every cubin. */
static bool is_about_program(const struct info_record *record)
{
    return info_symbol_words(record) == 0 || record->attribute == EIATTR_EXTERNS ||
           record->attribute == EIATTR_SAMPLER_INIT ||
           record->attribute == EIATTR_SAMPLER_FORCE_UNNORMALIZED;
}

/* Measured: if all functions are dead there may be no records left, and then no section. */
static bool has_program_records(const struct merging *m)
{
    for (size_t i = 0; i < m->symbol_count; i++)
        if (m->symbols[i].type == STT_FUNC && m->is_live[i])
            return true;
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_INFO);) {
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
    if (has_program_records(m))
        layout_make(m, CLASS_INFO);
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
    if (is_about_program(record)) {
        put_record(encoder, record);
        return;
    }
    symbol = merging_symbol(m, encoder->file, info_word(record->payload, 0));
    if (!merging_defines(m, encoder->file, info_word(record->payload, 0)) || !m->is_live[symbol])
        return;
    value = info_word(record->payload, 1);
    if (record->attribute == EIATTR_REGCOUNT && is_summed(m, symbol))
        value = m->reach[symbol].registers;
    put_symbol_record(encoder, record->attribute, m->rows.of_symbol[symbol], value);
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
                          reach_is_unbounded(m, kernel) ? UINT32_MAX
                                                        : (uint32_t)m->reach[kernel].stack);
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
    const struct merged_function *facts = &m->functions[function];

    for (size_t i = 0; i < facts->externs.size / 4; i++) {
        uint32_t symbol = merging_symbol(m, facts->externs_file, info_word(facts->externs, i));

        if (symbol == MERGE_NONE || is_bound(&m->symbols[symbol]) ||
            m->rows.of_symbol[symbol] == 0 || encoder->extern_of[symbol] == encoder->kernel)
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

/* Adds the externs of the reached functions, in the order in which the functions were read. */
static void add_reached(struct encoder *encoder)
{
    qsort_r(encoder->reached, encoder->reached_count, sizeof *encoder->reached, compare_orders,
            encoder->m->functions);
    for (size_t i = 0; i < encoder->reached_count; i++)
        add_externs(encoder, encoder->reached[i]);
}

/* Measured: a program's only kernel has the externs of all functions, last read first; if the
 * others add nothing, its own in their order. */
static void collect_all_externs(struct encoder *encoder, uint32_t kernel)
{
    const struct merging *m = encoder->m;
    size_t own = encoder->extern_count;

    for (uint32_t i = 0; i < m->symbol_count; i++)
        if (m->functions[i].externs.size > 0)
            encoder->reached[encoder->reached_count++] = i;
    start_externs(encoder);
    add_reached(encoder);
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
    struct merging *m = encoder->m;
    const uint32_t *found;
    size_t count;

    start_externs(encoder);
    add_externs(encoder, function);
    encoder->reached_count = 0;
    if (!is_summed(m, function))
        return;
    if (m->layout.kernel_count == 1) {
        collect_all_externs(encoder, function);
        return;
    }
    count = reach_walk(m, function, REACHES_EXTERNS, &found);
    for (size_t i = 0; i < count; i++)
        if (m->functions[found[i]].externs.size > 0)
            encoder->reached[encoder->reached_count++] = found[i];
    add_reached(encoder);
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

/* Encodes one record of a function, with recomputed values where the link has them. */
static void encode_function_record(struct encoder *encoder, const struct info_record *record,
                                   uint32_t function)
{
    struct merging *m = encoder->m;
    struct info_record changed = *record;

    if (record->attribute == EIATTR_EXTERNS) {
        put_externs(encoder);
    } else if (is_summed(m, function) && record->attribute == EIATTR_CRS_STACK_SIZE &&
               reach_is_unbounded(m, function)) {
        put_unbounded_stack(encoder);
    } else if (record->attribute != EIATTR_NUM_BARRIERS || m->abi != CUBIN_OLD_ABI_VERSION) {
        if (is_summed(m, function) && record->attribute == EIATTR_NUM_BARRIERS)
            changed.value = (uint16_t)m->reach[function].barriers;
        else if (is_summed(m, function) && record->attribute == EIATTR_SPARSE_MMA_MASK &&
                 (m->reach[function].flags & REACHES_ALIAS))
            changed.value |= ALIAS_MASK;
        put_record(encoder, &changed);
    }
}

static bool has_record(const struct encoder *encoder, uint8_t attribute)
{
    for (size_t i = 0; i < encoder->count; i++)
        if (encoder->records[i].attribute == attribute)
            return true;
    return false;
}

/* Encodes records that a function lacks but needs because of functions that it reaches. */
static void encode_added_records(struct encoder *encoder, uint32_t function)
{
    const struct merging *m = encoder->m;
    uint32_t barriers = attributes_barriers(m, function);
    bool is_told = is_summed(m, function) || m->cubins[m->symbols[function].file]->toolkit != 0;

    if (barriers && is_told && m->abi != CUBIN_OLD_ABI_VERSION &&
        !has_record(encoder, EIATTR_NUM_BARRIERS))
        info_put_head(&encoder->out, EIFMT_BVAL, EIATTR_NUM_BARRIERS, barriers);
    if (m->request->relocatable)
        return;
    if (!merged_is_kernel(&m->symbols[function])) {
        if (CUBIN_FLAGS_SM(m->cubins[0]->flags) >= 90 &&
            (m->functions[function].flags & REACHES_ALIAS))
            info_put_head(&encoder->out, EIFMT_HVAL, EIATTR_SPARSE_MMA_MASK, ALIAS_MASK);
        return;
    }
    if (reach_is_unbounded(m, function) && !has_record(encoder, EIATTR_CRS_STACK_SIZE))
        put_unbounded_stack(encoder);
    put_externs(encoder);
}

static void encode_function(struct encoder *encoder, const struct merged_section *section)
{
    const struct merging *m = encoder->m;

    encoder->file = m->symbols[section->function].file;
    read_records(encoder, m->cubins[encoder->file]->sections[section->input].data);
    collect_externs(encoder, section->function);
    for (size_t i = encoder->count; i-- > 0;)
        encode_function_record(encoder, &encoder->records[i], section->function);
    encode_added_records(encoder, section->function);
}

static void encode_section(struct encoder *encoder, struct merged_section *section)
{
    encoder->count = 0;
    encoder->out.size = 0;
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
    static const enum merged_class classes[] = {CLASS_INFO, CLASS_FUNCTION_INFO, CLASS_TWIN_INFO,
                                                CLASS_TWIN_FUNCTION_INFO};
    struct encoder encoder = {.m = m};

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
