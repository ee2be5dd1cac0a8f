/* compat.c: folds the records, first within a cubin, then over cubins. */
#include "cubin/contents.h"

static uint64_t value_of_record(const struct info_record *record)
{
    uint8_t bytes[8] = {0};

    if (record->format != EIFMT_SVAL)
        return record->value;
    memcpy(bytes, record->payload.data,
           record->payload.size < sizeof bytes ? record->payload.size : sizeof bytes);
    return little_u32(bytes) | (uint64_t)little_u32(bytes + 4) << 32;
}

/* 0 for 1 to 3, 1 for 5 to 7, 2 for others. */
static unsigned scale_of(uint16_t value)
{
    return value >= 1 && value <= 3 ? 0 : value >= 5 && value <= 7 ? 1 : 2;
}

/* INST_TCGEN05_MMA of two inputs together. 1 to 3 and 5 to 7 are two scales, of which the second
 * does without the first's restriction; 4 and 8 go with nothing of the first; 0 goes with nothing.
 */
static uint16_t join_tcgen05(uint16_t a, uint16_t b)
{
    unsigned x = scale_of(a), y = scale_of(b);

    if (a == 0 || b == 0 || (x == 0 && y == 2) || (x == 2 && y == 0))
        return 0;
    if (x == y)
        return a > b ? a : b;
    if (x == 2 || y == 2)
        return x == 2 ? a : b;
    a = x == 1 ? (uint16_t)(a - 4) : a;
    b = y == 1 ? (uint16_t)(b - 4) : b;
    return a > b ? a : b;
}

/* Two values that are there. Where no row describes the record, the first stays. */
static uint64_t fold_values(const struct compat *compat, const struct compat_rule *rule, uint64_t a,
                            uint64_t b)
{
    uint64_t larger = a > b ? a : b;

    switch (rule ? rule->merge : COMPAT_DROPPED) {
    case COMPAT_TARGET:
    case COMPAT_MAX:
    case COMPAT_FINALIZER_NEEDED:
        return larger;
    case COMPAT_MAX_UNLESS_0:
        return a && b ? larger : 0;
    case COMPAT_OR:
        return a | b;
    case COMPAT_EQUAL_OR_1:
        return a == b ? a : 1;
    case COMPAT_TCGEN05:
        return join_tcgen05((uint16_t)a, (uint16_t)b);
    case COMPAT_AND:
        /* With Mercury's sections 0 is that of a cubin without code. */
        return compat->is_mercury && (a == 0 || b == 0) ? a | b : a & b;
    case COMPAT_FINALIZER:
        return compat->is_mercury ? a + b - larger : larger;
    default:
        return a;
    }
}

/* Whether an input without the record counts as if it had a value. */
static bool counts_missing(const struct compat_rule *rule)
{
    return rule && rule->merge != COMPAT_AND && rule->merge != COMPAT_FINALIZER &&
           rule->merge != COMPAT_FINALIZER_NEEDED;
}

static void add_compat_record(struct compat *compat, const struct info_record *record,
                              uint64_t value, bool has_code)
{
    const struct compat_rule *rule = compat_rule(record->attribute);
    struct compat_record *known = &compat->records[record->attribute];

    if (rule && rule->merge == COMPAT_AND && compat->is_mercury && !has_code)
        value = 0;
    if (known->files) {
        known->value = fold_values(compat, rule, known->value, value);
    } else {
        compat->order[compat->count++] = record->attribute;
        *known = (struct compat_record){*record, value, 0, compat->files == 0};
        if (compat->files > 0 && counts_missing(rule))
            known->value = fold_values(compat, rule, rule->missing, value);
    }
    known->files++;
}

void compat_add(struct compat *compat, struct bytes section, bool has_code)
{
    uint64_t values[UINT8_MAX + 1]; /* by number, where it has one */
    bool has[UINT8_MAX + 1] = {0};
    struct info_record record;

    /* What one cubin says twice is one record. */
    for (struct bytes rest = section; info_next(&rest, &record); has[record.attribute] = true) {
        uint64_t *value = &values[record.attribute], said = value_of_record(&record);

        *value = has[record.attribute]
                     ? fold_values(compat, compat_rule(record.attribute), *value, said)
                     : said;
    }
    for (size_t i = 0; i < compat->count; i++) {
        const struct compat_rule *rule = compat_rule(compat->order[i]);
        uint64_t *value = &compat->records[compat->order[i]].value;

        if (counts_missing(rule) && !has[compat->order[i]])
            *value = fold_values(compat, rule, *value, rule->missing);
    }
    for (struct bytes rest = section; info_next(&rest, &record); has[record.attribute] = false)
        if (has[record.attribute])
            add_compat_record(compat, &record, values[record.attribute], has_code);
    compat->files++;
}

static void put_compat_value(struct buffer *out, uint8_t number, uint8_t bytes, uint64_t value)
{
    if (bytes == 8) {
        info_put_head(out, EIFMT_SVAL, number, 8);
        buffer_u64(out, value);
    } else {
        info_put_head(out, bytes == 1 ? EIFMT_BVAL : EIFMT_HVAL, number, (size_t)value);
    }
}

void compat_put_all(const struct compat *compat, struct buffer *out)
{
    for (size_t i = 0; i < compat->count; i++) {
        const struct compat_record *known = &compat->records[compat->order[i]];
        const struct info_record *record = &known->record;
        const struct compat_rule *rule = compat_rule(record->attribute);

        if (rule) {
            put_compat_value(out, rule->number, rule->bytes, known->value);
            continue;
        }
        info_put_head(out, record->format, record->attribute,
                      record->format == EIFMT_SVAL ? record->payload.size : record->value);
        buffer_append(out, record->payload.data, record->payload.size);
    }
}

/* Appends one record of a link, unless the toolkit's nvlink leaves it out. */
static void put_merged(const struct compat *compat, const struct compat_record *record,
                       const struct toolkit_facts *toolkit, struct buffer *out)
{
    const struct compat_rule *rule = compat_rule(record->record.attribute);
    bool is_everywhere = record->files == compat->files;

    if (!rule || rule->merge == COMPAT_TARGET || rule->merge == COMPAT_DROPPED ||
        (compat->is_mercury && rule->merge == COMPAT_AND))
        return;
    if (!toolkit_is_in(toolkit, rule->written) ||
        (toolkit_is_in(toolkit, rule->omitters) && record->value == rule->omitted))
        return;
    if ((rule->merge == COMPAT_FINALIZER && !is_everywhere) ||
        (rule->merge == COMPAT_FINALIZER_NEEDED && !is_everywhere && !compat->is_mercury))
        return;
    put_compat_value(out, rule->number, rule->bytes, record->value);
}

/* Bits of CAN_FASTPATH_FINALIZE that `a` code has only where INST_TCGEN05_MMA is 5 (measured:
 * nvlink 13.0 to 13.5). */
#define UNLESS_BOUND UINT64_C(0x48)

/* What the target's finalizer could skip: what all cubins with code allow. Without code it is all
 * or nothing, by version. */
static uint64_t fast_path(const struct compat *compat, const struct compat_record *record,
                          struct arch arch, const struct toolkit_facts *toolkit)
{
    uint64_t all = targets_find(arch.sm)->fast_path;
    bool is_bound = arch.suffix == 'a' && compat->records[COMPAT_INST_TCGEN05_MMA].value != 5;

    if (record && record->files < compat->files)
        return 0;
    if (record && record->value)
        return record->value & (is_bound ? all & ~UNLESS_BOUND : all);
    return toolkit_does(toolkit, TOOLKIT_FINALIZES_NOTHING_FAST) ? all : 0;
}

/* Appends a record that the first cubin lacks, or its default. */
static void put_rest(const struct compat *compat, uint8_t number,
                     const struct toolkit_facts *toolkit, struct buffer *out)
{
    const struct compat_rule *rule = compat_rule(number);
    const struct compat_record *record = &compat->records[number];
    const struct compat_record missing = {
        .record.attribute = number, .value = rule ? rule->missing : 0, .files = compat->files};

    if (record->files ? !record->is_first : rule && rule->always)
        put_merged(compat, record->files ? record : &missing, toolkit, out);
}

void compat_put(const struct compat *compat, struct arch arch, const struct toolkit_facts *toolkit,
                struct buffer *out)
{
    const uint8_t last = COMPAT_CAN_FASTPATH_FINALIZE;
    const struct compat_record *final = NULL;
    bool is_finalized = compat->is_mercury && !toolkit_does(toolkit, TOOLKIT_WRITES_FIRST_MERCURY);

    if (!compat->is_mercury || is_finalized)
        info_put_head(out, EIFMT_BVAL, COMPAT_CUDA_ACCELERATOR_TARGET, arch.suffix == 'a');
    for (size_t i = 0; i < compat->count && compat->records[compat->order[i]].is_first; i++) {
        const struct compat_record *record = &compat->records[compat->order[i]];

        if (is_finalized && compat->order[i] == last) {
            final = record;
            put_compat_value(out, last, 8, fast_path(compat, final, arch, toolkit));
        }
        put_merged(compat, record, toolkit, out);
    }
    for (unsigned number = 0; compat->files > 0 && number <= UINT8_MAX; number++)
        if (number != last)
            put_rest(compat, (uint8_t)number, toolkit, out);
    put_rest(compat, last, toolkit, out);
    if (is_finalized && !final) /* what older code allows is not known */
        put_compat_value(out, last, 8, compat->files ? 0 : fast_path(compat, NULL, arch, toolkit));
    if (compat->is_mercury && compat->files == 0 && toolkit->finalizer_version)
        put_compat_value(out, COMPAT_FINALIZER_VERSION, 2, toolkit->finalizer_version);
}
