/* check_compat.c: .nv.compat of several cubins, held against nvlink 13.0 to 13.5. */
#include "cubin/contents.h"
#include "files.h"
#include "suite.h"

/* Appends the bytes of hexadecimal digits. */
static void add_hex(struct buffer *out, const char *digits)
{
    for (; digits[0] && digits[1]; digits += 2) {
        char pair[] = {digits[0], digits[1], '\0'};

        buffer_append(out, &(char){(char)strtoul(pair, NULL, 16)}, 1);
    }
}

static const char *hex_of(const struct buffer *bytes)
{
    static char text[4096];

    text[0] = '\0';
    for (size_t i = 0; i < bytes->size && i < sizeof text / 2 - 1; i++)
        sprintf(text + 2 * i, "%02x", (uint8_t)bytes->data[i]);
    return text;
}

/* A line: the toolkit, the inputs' sections, "=", the output's. */
static void check_line(char *line)
{
    struct compat compat = {0};
    struct buffer inputs[4] = {{0}};
    OWNED(buffer) made = {0};
    char *rest, *word = strtok_r(line, " ", &rest);
    const struct toolkit_facts *toolkit = toolkits_find((unsigned)atoi(word));
    size_t count = 0;

    while ((word = strtok_r(NULL, " ", &rest)) && strcmp(word, "=") != 0) {
        ck_assert_uint_lt(count, COUNT(inputs));
        add_hex(&inputs[count], word);
        compat_add(&compat, buffer_bytes(&inputs[count++]), true);
    }
    compat_put(&compat, (struct arch){90, 0}, toolkit, &made);
    ck_assert_str_eq(hex_of(&made), strtok_r(NULL, " ", &rest));
    for (size_t i = 0; i < COUNT(inputs); i++)
        buffer_free(&inputs[i]);
}

TEST(records_of_sm_90_are_merged_as_nvlink_does)
{
    OWNED(buffer) table = files_load("fixtures/toolkits/compat");
    char *rest;
    int lines = 0;

    buffer_append(&table, &(char){'\0'}, 1);
    for (char *line = strtok_r(table.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (*line != '#') {
            check_line(line);
            lines++;
        }
    ck_assert_int_eq(lines, 150);
}

/* With Mercury's sections, of nvlink 13.0 to 13.5's outputs. */
static const struct {
    unsigned toolkit, sm;
    char suffix;
    bool has_code;
    const char *first, *second, *merged;
} mercury[] = {
    /* code, no code, code of another target of the family */
    {130, 100, 0, true, "0209000002020100040b08000900000000000000", NULL,
     "0209000002020100040b0800090000000000000002030300020500000206010003070001"},
    {135, 100, 0, true,
     "02090000040b080009000000000000000202010003"
     "0e4004",
     NULL,
     "02090000040b08000900000000000000020201"
     "00030e4004020303"
     "00020c0200030d0001"},
    {132, 100, 0, false, "02090000040b08000900000000000000", NULL,
     "02090000040b080000000000000000000203030003070001"},
    {133, 100, 0, false, "02090000040b08000900000000000000", NULL,
     "02090000040b080009000000000000000203030003"
     "0d0001"},
    {133, 103, 0, true, "02090000040b08000900000000000000", NULL,
     "02090000040b080000000000000000000203030003"
     "0d0001"},
    /* the older of two finalizers; none where a cubin does not say */
    {135, 100, 0, true, "02090000040b08000900000000000000030e0004",
     "02090000040b08000900000000000000030e4004",
     "02090000040b08000900000000000000030e0004020303"
     "00020c0200030d0001"},
    {135, 100, 0, true, "02090000040b08000900000000000000030e0004", "02090000",
     "02090000040b0800000000000000000002030300020c0200030d0001"},
    /* what one cubin needs of the finalizer, in either order */
    {135, 100, 0, true, "02090000040b08000900000000000000030e4004030f0004",
     "02090000040b08000900000000000000030e4004",
     "02090000040b08000900000000000000030e4004030f0004020303"
     "00020c0200030d0001"},
    {135, 100, 0, true, "02090000040b08000900000000000000030e4004",
     "02090000040b08000900000000000000030e4004030f0004",
     "02090000040b08000900000000000000030e4004020303"
     "00020c0200030d0001030f0004"},
    /* an `a` target with tcgen05 instructions of `a` code in all cubins, in one, in none */
    {135, 100, 'a', true, "0209010002050500040b08000900000000000000", NULL,
     "0209010002050500040b0800090000000000000002030300020c0200030d0001"},
    {135, 100, 'a', true, "0209010002050500040b08000900000000000000",
     "02090000040b08000900000000000000",
     "02090100040b0800010000000000000002030300020c0200030d0001"},
    {131, 120, 'a', true, "02090000040b08005000000000000000", NULL,
     "02090100040b080010000000000000000203030003070001"},
};

TEST_LOOP(nothing_is_claimed_that_a_finalizer_would_have_earned, COUNT(mercury))
{
    struct compat compat = {.is_mercury = true};
    OWNED(buffer) first = {0};
    OWNED(buffer) second = {0};
    OWNED(buffer) made = {0};

    add_hex(&first, mercury[_i].first);
    compat_add(&compat, buffer_bytes(&first), mercury[_i].has_code);
    if (mercury[_i].second) {
        add_hex(&second, mercury[_i].second);
        compat_add(&compat, buffer_bytes(&second), mercury[_i].has_code);
    }
    compat_put(&compat, (struct arch){mercury[_i].sm, mercury[_i].suffix},
               toolkits_find(mercury[_i].toolkit), &made);
    ck_assert_str_eq(hex_of(&made), mercury[_i].merged);
}

TEST(a_program_without_cubins_says_what_its_target_is)
{
    static const struct {
        unsigned toolkit, sm;
        char suffix;
        bool is_mercury;
        const char *made;
    } empty[] = {
        {130, 90, 0, false, "02090000"},
        {135, 90, 'a', false, "02090100"},
        {130, 100, 0, true, "02090000040b08000000000000000000"},
        {133, 120, 'a', true, "02090100040b08005000000000000000"},
        {134, 100, 0, true, "02090000040b08000900000000000000030e0004"},
    };

    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        struct compat compat = {.is_mercury = empty[i].is_mercury};
        OWNED(buffer) made = {0};

        compat_put(&compat, (struct arch){empty[i].sm, empty[i].suffix},
                   toolkits_find(empty[i].toolkit), &made);
        ck_assert_str_eq(hex_of(&made), empty[i].made);
    }
}

/* Chunks of one program: what is not known stays. */
TEST(chunks_keep_all_records)
{
    struct compat compat = {.is_mercury = true};
    OWNED(buffer) one = {0};
    OWNED(buffer) two = {0};
    OWNED(buffer) made = {0};

    add_hex(&one, "0202010004f00200abcd020305"
                  "00");
    add_hex(&two, "0202020002030200");
    compat_add(&compat, buffer_bytes(&one), true);
    compat_add(&compat, buffer_bytes(&two), true);
    compat_put_all(&compat, &made);
    ck_assert_str_eq(hex_of(&made), "0202020004f00200abcd02030700");
}
