/* check_needs.c: what kernels take over from the functions that they reach, held against nvlink. */
#include "files.h"
#include "merged_output.h"
#include "suite.h"

static char *text_hex(struct bytes bytes)
{
    char *text = calloc(2 * bytes.size + 1, 1);

    for (size_t i = 0; i < bytes.size; i++)
        sprintf(text + 2 * i, "%02x", bytes.data[i]);
    return text;
}

/* A line "link TOOLKIT CUBIN..." merges them; a line "SECTION HEX" tells what one then has. */
TEST(info_sections_of_random_programs_are_nvlinks)
{
    OWNED(buffer) table = files_load("fixtures/merge/needs/expected");
    struct bytes rest;
    struct text all, line;
    int sections = 0;

    rest = buffer_bytes(&table);
    all = (struct text){(const char *)rest.data, rest.size};
    while (text_scan_line(&all, &line)) {
        FREED char *copy = strndup(line.data, line.size);
        char *value = strchr(copy, ' ');

        if (*copy == '#' || !value)
            continue;
        *value++ = '\0';
        if (strcmp(copy, "link") == 0) {
            unsigned toolkit = (unsigned)strtoul(value, &value, 10);

            restart();
            merge_with(REQUEST(90, .toolkit = toolkits_find(toolkit)), value + 1);
        } else {
            FREED char *made = text_hex(section(copy)->data);

            ck_assert_msg(strcmp(made, value) == 0, "%s: %s, not %s", copy, made, value);
            sections++;
        }
    }
    ck_assert_int_eq(sections, 91);
}

/* An input's first record of that attribute, to change it. */
static uint8_t *input_record(size_t number, const char *name, uint8_t attribute)
{
    uint8_t *bytes = input_bytes(number, name);
    size_t size = nth_input_section(number, name)->data.size;

    for (size_t at = 0; at + 4 <= size; at += bytes[at] == EIFMT_SVAL ? 4u + bytes[at + 2] : 4u)
        if (bytes[at + 1] == attribute)
            return bytes + at;
    ck_abort_msg("no record %#x in %s", attribute, name);
}

/* Whether a link refuses k0 with the record `kernel` of CTAs, if f0 has the record `callee`. */
static bool mix(uint8_t kernel, uint8_t callee)
{
    restart();
    read_nth_input(0, "needs/135-1-k0.o");
    read_nth_input(1, "needs/135-1-f0.o");
    input_record(0, ".nv.info.k0", EIATTR_TCGEN05_1CTA_USED)[1] = kernel;
    input_record(1, ".nv.info.f0", EIATTR_REG_RECONFIG)[1] = callee;
    merge_inputs(REQUEST(90, .toolkit = toolkits_find(135)), 2);
    buffer_append(&merged->said.text, "", 1);
    return !merged->ok &&
           strstr(merged->said.text.data,
                  "uses single CTA(.cta_group::1) and CTA pair granularity(.cta_group::2)");
}

TEST(tensor_memory_of_one_block_and_of_a_pair_do_not_mix)
{
    ck_assert(mix(EIATTR_TCGEN05_1CTA_USED, EIATTR_TCGEN05_2CTA_USED));
    ck_assert(mix(EIATTR_TCGEN05_2CTA_USED, EIATTR_TCGEN05_1CTA_USED));
    ck_assert(!mix(EIATTR_TCGEN05_1CTA_USED, EIATTR_TCGEN05_1CTA_USED));
    ck_assert(merged->ok);
}

/* Measured on nvlink 13.0 and 13.5: ptxas writes 0xffff where it does not know the number. */
TEST(a_kernel_does_not_know_its_mbarriers_if_one_of_its_functions_does_not)
{
    static const char *const sections[] = {".nv.info.k0", ".nv.info.f0"};
    struct info_record record;

    for (size_t unknown = 0; unknown < 2; unknown++) {
        restart();
        read_nth_input(0, "needs/130-32-k0.o");
        read_nth_input(1, "needs/130-32-f0.o");
        read_nth_input(2, "needs/130-32-f1.o");
        memset(input_record(unknown, sections[unknown], EIATTR_NUM_MBARRIERS) + 2, 0xff, 2);
        merge_well(REQUEST(90), 3);
        ck_assert(find_record(".nv.info.k0", EIATTR_NUM_MBARRIERS, NULL, &record));
        ck_assert_uint_eq(record.value, 0xffff);
    }
}
