/* check_limits.c: what functions must have for a link to take them. */
#include "cubin/format.h"
#include "merged_output.h"

/* The record of that function which has no value becomes the one of a tools' patch. No ptxas up to
 * 13.5 writes it into what nvlink links. */
static void mark_as_patch(size_t number, const char *section)
{
    static const uint8_t mask[] = {EIFMT_HVAL, EIATTR_SPARSE_MMA_MASK, 0, 0};
    static const uint8_t patch[] = {EIFMT_NVAL, EIATTR_TOOLS_PATCH_FUNC, 0, 0};
    uint8_t *records = input_bytes(number, section);
    uint8_t *at = memmem(records, nth_input_section(number, section)->size, mask, sizeof mask);

    ck_assert_ptr_nonnull(at);
    memcpy(at, patch, sizeof patch);
}

static void merge_patches(bool marks_callee)
{
    read_nth_input(0, "07_call-sm_90-a.o");
    read_nth_input(1, "07_call-sm_90-b.o");
    mark_as_patch(0, ".nv.info.k1");
    if (marks_callee)
        mark_as_patch(1, ".nv.info.f");
    merge_inputs(REQUEST(90, .toolkit = toolkits_find(135), .tools_patch = true), 2);
}

TEST(functions_of_a_tools_patch_are_linked)
{
    merge_patches(true);
    ck_assert(merged->ok);
}

TEST(a_function_that_is_no_tools_patch_is_refused_among_them)
{
    merge_patches(false);
    expect_refused("Function 'f' in 'b.o' is missing EIATTR_TOOLS_PATCH_FUNC attribute");
}
