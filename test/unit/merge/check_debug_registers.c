/* check_debug_registers.c: what debug information says of registers of functions that are not in
 * the output, and of labels that are nowhere. */
#include "base/text.h"
#include "merged_output.h"

#define SECTION ".nv_debug_info_reg_sass"

/* Two places of a function, with ranges that are its letter and numbers. */
static void put_block(struct buffer *buffer, const char *name)
{
    buffer_append(buffer, name, strlen(name) + 1);
    buffer_u32(buffer, 2);
    for (uint32_t place = 0; place < 2; place++) {
        buffer_u32(buffer, place);
        buffer_append(buffer, "%r1", 4);
        buffer_u32(buffer, 0x05000000);
        buffer_u32(buffer, 0x10 + place);
        buffer_u32(buffer, 0x20 + place);
    }
}

/* Makes the frames of an input, which nothing refers to then, the section; without its last
 * `cut` bytes. */
static void replace_frames(size_t number, struct buffer *buffer, size_t cut)
{
    struct cubin_section *section = nth_input_section(number, ".debug_frame");

    section->name = TEXT(SECTION);
    section->data = (struct bytes){(const uint8_t *)buffer->data, buffer->size - cut};
    section->size = section->data.size;
    nth_input_section(number, ".rela.debug_frame")->relocation_count = 0;
}

/* In the fixtures k1 calls used; unused1 is dead. */
static void merge_blocks(struct merge_request request, size_t cut)
{
    OWNED(buffer) first = {0};
    OWNED(buffer) second = {0};

    put_block(&first, "k1");
    put_block(&first, "unused1");
    put_block(&second, "k1");
    put_block(&second, "used");
    read_nth_input(0, "20_dead-sm_100-a.o");
    read_nth_input(1, "20_dead-sm_100-b.o");
    replace_frames(0, &first, 0);
    replace_frames(1, &second, cut);
    merge_well(request, 2);
}

/* The ends of the places in the output's blocks. */
static const char *ends(void)
{
    struct bytes data = section(SECTION)->data;
    OWNED(buffer) text = {0};

    for (size_t at = 0; at < data.size;) {
        at += strlen((const char *)data.data + at) + 1 + 4;
        for (int place = 0; place < 2; place++, at += 20)
            buffer_printf(&text, "%x ", little_u32(data.data + at + 16));
    }
    return suite_print("%.*s", TEXT_ARG(buffer_view(&text)));
}

TEST(of_each_name_that_is_kept_the_first_block_stays)
{
    merge_blocks(REQUEST(100), 0);
    ck_assert_str_eq(ends(), "20 21 0 0 0 0 20 21 ");
}

TEST(dead_functions_that_are_kept_keep_theirs)
{
    merge_blocks(REQUEST(100, .relocatable = true), 0);
    ck_assert_str_eq(ends(), "20 21 20 21 0 0 20 21 ");
}

/* Of what is cut off nothing is changed. */
TEST_RANGE(another_structure_is_left_alone, 1, 49)
{
    OWNED(buffer) expected = {0};
    const char *names[] = {"k1", "unused1", "k1", "used"};

    for (int i = 0; i < 4; i++)
        put_block(&expected, names[i]);
    expected.size -= (size_t)_i;
    merge_blocks(REQUEST(100), (size_t)_i);
    ck_assert(bytes_equal(section(SECTION)->data, buffer_bytes(&expected)));
}

/* Makes a symbol that nothing refers to a label that is nowhere. */
static uint32_t lost_label(void)
{
    struct cubin_symbol *label = input_symbol(0, "__UDT_END");

    *label = (struct cubin_symbol){.name = TEXT("$L__tmp26"), .binding = STB_LOCAL};
    return (uint32_t)(label - merged->inputs[0].symbols);
}

static void refer(const char *in, uint64_t offset, uint32_t symbol)
{
    struct cubin_section *list = nth_input_section(0, in);

    for (size_t i = 0; i < list->relocation_count; i++)
        if (list->relocations[i].offset == offset)
            input_relocations(0, in)[i].symbol = symbol;
}

/* Two cubins; in the first, a list refers to the label. */
static void merge_label(struct merge_request request, const char *in, uint64_t offset)
{
    read_nth_input(0, "20_dead-sm_100-a.o");
    read_nth_input(1, "20_dead-sm_100-b.o");
    refer(in, offset, lost_label());
    merge_inputs(request, 2);
}

/* As ptxas 13.5 writes for labels of nvcc -G whose code went; in a relocatable output, too. */
TEST_LOOP(labels_that_are_nowhere_leave_fields_of_debug_information, 2)
{
    merge_label(REQUEST(100, .relocatable = _i), ".rela.debug_frame", 0x44);
    ck_assert(merged->ok);
    ck_assert_uint_eq(little_u64(section(".debug_frame")->data.data + 0x44), 0);
    ck_assert_uint_eq(count_relocations(".rela.debug_frame", R_CUDA_64, "k1"), 0);
    ck_assert_uint_eq(symbol_index("$L__tmp26"), 0);
}

TEST_LOOP(labels_that_are_nowhere_are_refused_in_code, 2)
{
    merge_label(REQUEST(100, .relocatable = _i), ".rela.text.k1", 0x60);
    expect_refused("against '$L__tmp26' in section '.text.k1'");
}
