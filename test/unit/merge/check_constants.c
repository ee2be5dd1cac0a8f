/* check_constants: the compiler's constants of device functions stand in every kernel that reaches
 * them, on small real cubins (fixtures/merge, made by ptxas 13.0). Needs no CUDA. */
#include "merged_output.h"

#define FILES "constants-sm_80-a.o constants-sm_80-b.o"

/* The low byte of each 8-byte number in the section, as two digits ("." for a gap of zeros). The
 * fixtures' numbers are 1 and a few low bits. */
static const char *numbers(const char *name)
{
    static char text[64];
    const struct cubin_section *in = section_at(name, 0);
    size_t size = 0;

    text[0] = '\0';
    if (!in)
        return "none";
    for (size_t at = 0; at + 8 <= in->size && size + 4 < sizeof text; at += 8)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%02x", size ? " " : "",
                                 in->data.data[at]);
    return text;
}

/* Offsets in bank 2 that a function's instructions name, in the order of its code. */
static const char *offsets(const char *name)
{
    static char text[64];
    const struct cubin_section *code = section(name);
    size_t size = 0;

    text[0] = '\0';
    for (size_t at = 0; at + 16 <= code->size && size + 8 < sizeof text; at += 16)
        if (bits(code, at, 54, 5) == 2 && bits(code, at, 0, 12) == 0x62b) /* DFMA with a constant */
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%u", size ? " " : "",
                                     (unsigned)bits(code, at, 40, 14) * 4);
    return text;
}

TEST(kernels_have_the_constants_of_functions_that_they_reach)
{
    merge_with(REQUEST(80), FILES);
    /* The function read last stands first, at one offset in all its kernels. */
    ck_assert_str_eq(numbers(".nv.constant2.k1"), "10 03 01 02");
    ck_assert_str_eq(numbers(".nv.constant2.k2"), "00 03");
    ck_assert_str_eq(numbers(".nv.constant2.k3"), "30");
    ck_assert_str_eq(numbers(".nv.constant2.first"), "none");
    ck_assert_str_eq(numbers(".nv.constant2.second"), "none");
    /* Code names the new offsets. */
    ck_assert_str_eq(offsets(".text.k1"), "0");
    ck_assert_str_eq(offsets(".text.first"), "16 24");
    ck_assert_str_eq(offsets(".text.second"), "8");
    ck_assert_str_eq(offsets(".text.k3"), "0");
}

/* Measured on nvlink 13.5, with the same change. */
TEST(the_alignment_of_one_kernel_is_that_of_all_that_share_its_functions)
{
    read_nth_input(0, "constants-sm_80-a.o");
    read_nth_input(1, "constants-sm_80-b.o");
    nth_input_section(0, ".nv.constant2.k1")->alignment = 16;
    merge_well(REQUEST(80), 2);
    ck_assert_str_eq(numbers(".nv.constant2.k1"), "10 00 03 00 01 02");
    ck_assert_str_eq(numbers(".nv.constant2.k2"), "00 00 03 00");
    ck_assert_uint_eq(section(".nv.constant2.k2")->alignment, 16);
}

/* The doubles of `scales`, then the table of `jumps`; the end of a section is aligned as its start.
 */
TEST(a_function_that_gave_way_keeps_its_place_in_their_order)
{
    merge_with(REQUEST(80), "54_constorder-sm_80-a.o 54_constorder-sm_80-b.o");
    ck_assert_uint_eq(section(".nv.constant2.k")->size, 0x28);
    ck_assert_str_eq(numbers(".nv.constant2.k"), "f4 c3 80 40 00");
}

TEST(relocatable_output_leaves_them_where_they_are)
{
    merge_with(REQUEST(80, .relocatable = true), FILES);
    ck_assert_str_eq(numbers(".nv.constant2.k1"), "10");
    ck_assert_str_eq(numbers(".nv.constant2.k2"), "none");
    ck_assert_str_eq(numbers(".nv.constant2.first"), "01 02");
}
