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

static void change_nothing(const char *function)
{
    (void)function;
}

static void change_code(const char *function)
{
    *byte_of(".text.", function, 16) ^= 1;
}

static void change_flags(const char *function)
{
    section_of(".text.", function)->flags ^= SHF_WRITE;
}

/* The number of registers stands in the section's header, too. */
static void change_header(const char *function)
{
    section_of(".text.", function)->info += 1u << 24;
}

static void change_alignment(const char *function)
{
    section_of(".text.", function)->alignment *= 2;
}

static void change_attribute(const char *function)
{
    *byte_of(".nv.info.", function, section_of(".nv.info.", function)->size - 4) ^= 1;
}

static void change_registers(const char *function)
{
    *record_of(EIATTR_REGCOUNT, function) += 1;
}

static void change_frame(const char *function)
{
    *record_of(EIATTR_FRAME_SIZE, function) += 8;
}

static void change_other(const char *function)
{
    input_symbol(1, function)->other |= STV_HIDDEN;
}

static void change_size(const char *function)
{
    input_symbol(1, function)->size -= 16;
}

static void take_address(const char *function)
{
    struct cubin_relocation *relocation = section_of(".rela.text.", "_Z2k2Px")->relocations;

    relocation->symbol = index_of(function);
    relocation->type = R_CUDA_ABS32_LO_32;
}

static void change_offset(const char *function)
{
    section_of(".rela.text.", function)->relocations->offset += 16;
}

static void change_addend(const char *function)
{
    section_of(".rela.text.", function)->relocations->addend += 16;
}

static void change_type(const char *function)
{
    section_of(".rela.text.", function)->relocations->type = R_CUDA_ABS47_34;
}

static void change_target(const char *function)
{
    struct cubin_relocation *relocation = section_of(".rela.text.", function)->relocations;

    while (relocation->type != R_CUDA_ABS55_16_34)
        relocation++;
    relocation->symbol = index_of(function);
}

static const struct {
    void (*change)(const char *function);
    const char *function;
    size_t folded;
} changes[] = {
    {change_nothing, division, 2},   {change_code, division, 0},
    {change_flags, division, 0},     {change_alignment, division, 0},
    {change_attribute, division, 0}, {change_registers, division, 0},
    {change_frame, division, 0},     {change_other, division, 0},
    {change_size, division, 0},      {take_address, division, 0},
    {change_code, caller, 1},        {change_attribute, caller, 1},
    {take_address, caller, 1},       {change_offset, caller, 1},
    {change_addend, caller, 1},      {change_type, caller, 1},
    {change_target, caller, 1},      {change_header, division, 0},
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
    changes[_i].change(changes[_i].function);
    merge_inputs((struct merge_request){.arch = {.sm = 90}, .fold = true, .wants_places = true},
                 COUNT(names));
    ck_assert(merged->ok);
    ck_assert_uint_eq(count_folded(), changes[_i].folded);
    ck_assert_uint_eq(merged->report.kernel_count, 6 - changes[_i].folded);
}
