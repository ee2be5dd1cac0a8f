/* check_fold: functions that are the same become one, and those that differ in one thing do not.
 * Each of two cubins has a kernel, a function of its own and the division that this calls. */
#include "merged_output.h"

static const char division[] = "__cuda_sm20_div_s64";
static const char first_caller[] = ".text._ZN33_INTERNAL_9fd30ed9_4_a_cu__Z2k1Px2ddExx";
static const char caller[] = "_ZN33_INTERNAL_8d66a137_4_b_cu__Z2k2Px2ddExx";

/* Of the second cubin. */
static struct cubin_section *section_of(const char *prefix, const char *function)
{
    return nth_input_section(1, suite_print("%s%s", prefix, function));
}

static uint8_t *byte_of(const char *prefix, const char *function, size_t offset)
{
    return (uint8_t *)(uintptr_t)section_of(prefix, function)->data.data + offset;
}

static uint32_t index_of(const char *function)
{
    return (uint32_t)(input_symbol(1, function) - merged->inputs[1].symbols);
}

/* The last word of the record about a function of that attribute in .nv.info. */
static uint8_t *record_of(uint8_t attribute, const char *function)
{
    struct bytes rest = nth_input_section(1, ".nv.info")->data;
    struct info_record record;

    while (info_next(&rest, &record))
        if (record.attribute == attribute && info_word(record.payload, 0) == index_of(function))
            return (uint8_t *)(uintptr_t)rest.data - 4;
    ck_abort_msg("no record %#x", attribute);
}

enum change {
    NOTHING,
    CODE,
    FLAGS,
    HEADER,
    ALIGNMENT,
    ATTRIBUTE,
    REGISTERS,
    FRAME,
    OTHER,
    SIZE,
    ADDRESS,
    OFFSET,
    ADDEND,
    TYPE,
    TARGET
};

static void change(enum change what, const char *function)
{
    struct cubin_relocation *relocation =
        what >= OFFSET ? section_of(".rela.text.", function)->relocations : NULL;

    switch (what) {
    case NOTHING:
        break;
    case CODE:
        *byte_of(".text.", function, 16) ^= 1;
        break;
    case FLAGS:
        section_of(".text.", function)->flags ^= SHF_WRITE;
        break;
    case HEADER: /* has the number of registers, too */
        section_of(".text.", function)->info += 1u << 24;
        break;
    case ALIGNMENT:
        section_of(".text.", function)->alignment *= 2;
        break;
    case ATTRIBUTE:
        *byte_of(".nv.info.", function, section_of(".nv.info.", function)->size - 4) ^= 1;
        break;
    case REGISTERS:
        *record_of(EIATTR_REGCOUNT, function) += 1;
        break;
    case FRAME:
        *record_of(EIATTR_FRAME_SIZE, function) += 8;
        break;
    case OTHER:
        input_symbol(1, function)->other |= STV_HIDDEN;
        break;
    case SIZE:
        input_symbol(1, function)->size -= 16;
        break;
    case ADDRESS: /* is taken */
        relocation = section_of(".rela.text.", "_Z2k2Px")->relocations;
        relocation->symbol = index_of(function);
        relocation->type = R_CUDA_ABS32_LO_32;
        break;
    case OFFSET:
        relocation->offset += 16;
        break;
    case ADDEND:
        relocation->addend += 16;
        break;
    case TYPE:
        relocation->type = R_CUDA_ABS47_34;
        break;
    case TARGET:
        while (relocation->type != R_CUDA_ABS55_16_34)
            relocation++;
        relocation->symbol = index_of(function);
        break;
    }
}

static const struct {
    enum change change;
    const char *function;
    size_t folded;
} changes[] = {
    {NOTHING, division, 2},   {CODE, division, 0},      {FLAGS, division, 0},
    {ALIGNMENT, division, 0}, {ATTRIBUTE, division, 0}, {REGISTERS, division, 0},
    {FRAME, division, 0},     {OTHER, division, 0},     {SIZE, division, 0},
    {ADDRESS, division, 0},   {CODE, caller, 1},        {ATTRIBUTE, caller, 1},
    {ADDRESS, caller, 1},     {OFFSET, caller, 1},      {ADDEND, caller, 1},
    {TYPE, caller, 1},        {TARGET, caller, 1},      {HEADER, division, 0},
};

/* How many functions are gone; each stands for the one of the first cubin. */
static size_t count_folded(void)
{
    const struct merge_places *places = &merged->report.places;
    size_t count = 0;

    for (size_t i = 0; i < places->drop_count; i++) {
        if (places->drops[i].reason != MERGE_FOLDED)
            continue;
        ck_assert_uint_eq(places->drops[i].file, 1);
        count++;
    }
    return count;
}

TEST_LOOP(folds_what_is_the_same, COUNT(changes))
{
    static const char *const names[] = {"37_localdup-sm_90-a.o", "37_localdup-sm_90-b.o"};

    for (size_t i = 0; i < COUNT(names); i++)
        read_nth_input(i, names[i]);
    /* Its sum is with another constant. */
    memcpy(byte_of(".text.", caller, 0), input_bytes(0, first_caller),
           section_of(".text.", caller)->size);
    change(changes[_i].change, changes[_i].function);
    merge_well(REQUEST(90, .fold = true, .wants_places = true), COUNT(names));
    ck_assert_uint_eq(count_folded(), changes[_i].folded);
    ck_assert_uint_eq(merged->report.kernel_count, 6 - changes[_i].folded);
}
