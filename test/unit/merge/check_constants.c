/* check_constants: the compiler's constants of device functions stand in every kernel that reaches
 * them, on small real cubins (fixtures/merge, made by ptxas 13.0). Needs no CUDA. */
#include <check.h>
#include <string.h>

#include "merge/merge.h"
#include "input_fixture.h"
#include "suite.h"

#define FILES "fixtures/merge/constants-sm_80-"

/* One merge and its output, read back. */
struct merged {
    struct bytes files[2];
    struct cubin inputs[2];
    struct image image;
    struct merge_report report;
    struct buffer bytes;
    struct cubin output;
    bool ok;
};

static void merge(struct merged *merged, struct merge_request request)
{
    const struct cubin *list[] = {&merged->inputs[0], &merged->inputs[1]};
    static const char *const names[] = {FILES "a.o", FILES "b.o"};

    request.arch = (struct arch){.sm = 80};
    request.version = "test";
    for (size_t i = 0; i < 2; i++) {
        merged->files[i] = fixture_read(names[i]);
        ck_assert(cubin_read(&merged->inputs[i], names[i], merged->files[i]));
    }
    ck_assert(merge_cubins(&merged->image, list, 2, &request, &merged->report));
    image_bytes(&merged->image, &merged->bytes);
    ck_assert(cubin_read(&merged->output, "output", buffer_bytes(&merged->bytes)));
}

static void finish(struct merged *merged)
{
    image_free(&merged->image);
    merge_report_free(&merged->report);
    cubin_free(&merged->output);
    buffer_free(&merged->bytes);
    for (size_t i = 0; i < 2; i++) {
        cubin_free(&merged->inputs[i]);
        fixture_free(merged->files[i]);
    }
}

/* The low byte of each 8-byte number in the section, as two digits ("." for a gap of zeros). The
 * fixtures' numbers are 1 and a few low bits. */
static const char *numbers(const struct merged *merged, const char *name)
{
    static char text[64];
    uint32_t index = cubin_section_find(&merged->output, text_of(name));
    const struct cubin_section *section = &merged->output.sections[index];
    size_t size = 0;

    text[0] = '\0';
    if (index == 0)
        return "none";
    for (size_t at = 0; at + 8 <= section->size && size + 4 < sizeof text; at += 8)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%02x", size ? " " : "",
                                 section->data.data[at]);
    return text;
}

/* Offsets in bank 2 that a function's instructions name, in the order of its code. */
static const char *offsets(const struct merged *merged, const char *name)
{
    static char text[64];
    uint32_t index = cubin_section_find(&merged->output, text_of(name));
    const struct cubin_section *section = &merged->output.sections[index];
    size_t size = 0;

    ck_assert_uint_ne(index, 0);
    text[0] = '\0';
    for (size_t at = 0; at + 16 <= section->size && size + 8 < sizeof text; at += 16) {
        uint64_t low;

        memcpy(&low, section->data.data + at, 8);
        if ((low >> 54 & 31) == 2 && (low & 0xfff) == 0x62b) /* DFMA with a constant */
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%u", size ? " " : "",
                                     (unsigned)(low >> 40 & 0x3fff) * 4);
    }
    return text;
}

TEST(kernels_have_the_constants_of_functions_that_they_reach)
{
    struct merged merged = {0};

    merge(&merged, (struct merge_request){0});
    /* The function read last stands first, at one offset in all its kernels. */
    ck_assert_str_eq(numbers(&merged, ".nv.constant2.k1"), "10 03 01 02");
    ck_assert_str_eq(numbers(&merged, ".nv.constant2.k2"), "00 03");
    ck_assert_str_eq(numbers(&merged, ".nv.constant2.k3"), "30");
    ck_assert_str_eq(numbers(&merged, ".nv.constant2.first"), "none");
    ck_assert_str_eq(numbers(&merged, ".nv.constant2.second"), "none");
    finish(&merged);
}

TEST(code_names_the_new_offsets)
{
    struct merged merged = {0};

    merge(&merged, (struct merge_request){0});
    ck_assert_str_eq(offsets(&merged, ".text.k1"), "0");
    ck_assert_str_eq(offsets(&merged, ".text.first"), "16 24");
    ck_assert_str_eq(offsets(&merged, ".text.second"), "8");
    ck_assert_str_eq(offsets(&merged, ".text.k3"), "0");
    finish(&merged);
}

TEST(relocatable_output_leaves_them_where_they_are)
{
    struct merged merged = {0};

    merge(&merged, (struct merge_request){.relocatable = true});
    ck_assert_str_eq(numbers(&merged, ".nv.constant2.k1"), "10");
    ck_assert_str_eq(numbers(&merged, ".nv.constant2.k2"), "none");
    ck_assert_str_eq(numbers(&merged, ".nv.constant2.first"), "01 02");
    finish(&merged);
}
