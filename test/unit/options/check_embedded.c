/* Tests of the option string reader: every oddity measured on nvlink 13.0. */
#include <sys/mman.h>
#include <unistd.h>

#include "options/consensus.h"
#include "suite.h"

struct parse_case {
    const char *options;
    enum embedded_option option;
    bool found;
    int32_t value;
};

static const struct parse_case parse_cases[] = {
    {"", EMBEDDED_SPLIT_COMPILE, false, 0},
    {"-split-compile 2 ", EMBEDDED_SPLIT_COMPILE, true, 2},
    {"-split-compile 0 -ftz=0 ", EMBEDDED_SPLIT_COMPILE, true, 0},
    {"-ftz=0 -split-compile 8", EMBEDDED_SPLIT_COMPILE, true, 8},
    {"-split-compile 02", EMBEDDED_SPLIT_COMPILE, true, 2},
    {"-split-compile 2x", EMBEDDED_SPLIT_COMPILE, true, 2},
    {"-split-compile 2.5", EMBEDDED_SPLIT_COMPILE, true, 2},
    {"-split-compile abc", EMBEDDED_SPLIT_COMPILE, true, 0},
    {"-split-compile 0x10", EMBEDDED_SPLIT_COMPILE, true, 0},
    {"-split-compile -1", EMBEDDED_SPLIT_COMPILE, true, -1},
    {"-split-compile +3", EMBEDDED_SPLIT_COMPILE, true, 3},
    {"-split-compile +-3", EMBEDDED_SPLIT_COMPILE, true, 0},
    {"-split-compile - 3", EMBEDDED_SPLIT_COMPILE, true, 0},
    {"-split-compile   3", EMBEDDED_SPLIT_COMPILE, true, 3},
    {"-split-compile \t3", EMBEDDED_SPLIT_COMPILE, true, 3},
    {"-split-compile \n\v\f\r3", EMBEDDED_SPLIT_COMPILE, true, 3},
    {"-split-compile 2147483647", EMBEDDED_SPLIT_COMPILE, true, 2147483647},
    {"-split-compile 2147483648", EMBEDDED_SPLIT_COMPILE, true, INT32_MIN},
    {"-split-compile 4294967298", EMBEDDED_SPLIT_COMPILE, true, 2},
    {"-split-compile 9223372036854775807", EMBEDDED_SPLIT_COMPILE, true, -1},
    {"-split-compile 9223372036854775808", EMBEDDED_SPLIT_COMPILE, true, -1},
    {"-split-compile -9223372036854775807", EMBEDDED_SPLIT_COMPILE, true, 1},
    {"-split-compile -9223372036854775808", EMBEDDED_SPLIT_COMPILE, true, 0},
    {"-split-compile 99999999999999999999", EMBEDDED_SPLIT_COMPILE, true, -1},
    {"-split-compile -99999999999999999999", EMBEDDED_SPLIT_COMPILE, true, 0},
    {"-split-compile ", EMBEDDED_SPLIT_COMPILE, true, 0},
    {"-split-compile", EMBEDDED_SPLIT_COMPILE, false, 0},
    {"-split-compile=2", EMBEDDED_SPLIT_COMPILE, false, 0},
    {"-split-compile\t2", EMBEDDED_SPLIT_COMPILE, false, 0},
    {"-split-compile-extended 4", EMBEDDED_SPLIT_COMPILE, false, 0},
    {"-split-compile-extended 4 -split-compile 2", EMBEDDED_SPLIT_COMPILE, true, 2},
    {"x-split-compile 2", EMBEDDED_SPLIT_COMPILE, true, 2},
    {"--split-compile 2", EMBEDDED_SPLIT_COMPILE, true, 2},
    {"-Split-compile 2", EMBEDDED_SPLIT_COMPILE, false, 0},
    {"-split-compile 2 -split-compile 4", EMBEDDED_SPLIT_COMPILE, true, 2},
    {"-split-compile -split-compile 4", EMBEDDED_SPLIT_COMPILE, true, 0},
    {"-maxreg 32 -ftz=0 ", EMBEDDED_MAXREG, true, 32},
    {"-maxreg=32", EMBEDDED_MAXREG, false, 0},
    {"-maxrregcount=32", EMBEDDED_MAXREG, false, 0},
    {"-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1 ", EMBEDDED_FTZ, true, 1},
    {"-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1 ", EMBEDDED_PREC_DIV, true, 0},
    {"-ftz=1 -prec_div=0 -prec_sqrt=7 -fmad=1 ", EMBEDDED_PREC_SQRT, true, 7},
    {"-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1 ", EMBEDDED_FMAD, true, 1},
    {"-ftz= 1", EMBEDDED_FTZ, true, 1},
    {"-ftz=", EMBEDDED_FTZ, true, 0},
    {"-ftz 1", EMBEDDED_FTZ, false, 0},
    {"-prec-div=0", EMBEDDED_PREC_DIV, false, 0},
    {"-prec-sqrt=0", EMBEDDED_PREC_SQRT, false, 0},
    {"-fma=0", EMBEDDED_FMAD, false, 0},
    {"-generate-line-info -ftz=0", EMBEDDED_LINE_INFO, true, 1},
    {"-generate-line-infox", EMBEDDED_LINE_INFO, true, 1},
    {"--generate-line-info", EMBEDDED_LINE_INFO, true, 1},
    {"-lineinfo", EMBEDDED_LINE_INFO, false, 0},
};

TEST_LOOP(option_strings_are_read_as_nvlink_reads_them, COUNT(parse_cases))
{
    const struct parse_case *row = &parse_cases[_i];
    int32_t value = 12345;
    bool found = embedded_find(text_of(row->options), row->option, &value);

    ck_assert_msg(found == row->found, "'%s'", row->options);
    ck_assert_msg(value == (found ? row->value : 12345), "'%s' gives %d", row->options, (int)value);
}

TEST(a_nul_ends_the_string)
{
    int32_t value = 0;

    ck_assert(
        embedded_find(TEXT("-split-compile 1\0-split-compile 3"), EMBEDDED_SPLIT_COMPILE, &value));
    ck_assert_int_eq(value, 1);
    ck_assert(!embedded_find(TEXT("x\0-split-compile 3"), EMBEDDED_SPLIT_COMPILE, &value));
    ck_assert(!embedded_find((struct text){NULL, 0}, EMBEDDED_SPLIT_COMPILE, &value));
}

/* The string stands at the end of a page with an inaccessible one behind it. */
TEST(nothing_behind_the_view_is_read)
{
    static const struct {
        const char *options;
        bool found;
    } rows[] = {
        {"-split-compile ", true},  {"-split-compile", false},  {"-split-compile 2", true},
        {"-split-compile -", true}, {"-split-compile  ", true}, {"-s", false},
    };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(memory, MAP_FAILED);
    ck_assert_int_eq(mprotect(memory + page, page, PROT_NONE), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t size = strlen(rows[i].options);
        int32_t value;

        memcpy(memory + page - size, rows[i].options, size);
        ck_assert_msg(embedded_find((struct text){memory + page - size, size},
                                    EMBEDDED_SPLIT_COMPILE, &value) == rows[i].found,
                      "'%s'", rows[i].options);
    }
    munmap(memory, 2 * page);
}

TEST(very_long_digit_strings_stick_at_the_end_of_the_range)
{
    size_t size = 1u << 20;
    FREED char *options = malloc(size);
    int32_t value = 0;

    ck_assert_ptr_nonnull(options);
    memset(options, '7', size);
    memcpy(options, "-split-compile ", 15);
    ck_assert(embedded_find((struct text){options, size}, EMBEDDED_SPLIT_COMPILE, &value));
    ck_assert_int_eq(value, -1);
    memset(options + 15, '0', size - 16); /* zeros in front do not count */
    ck_assert(embedded_find((struct text){options, size}, EMBEDDED_SPLIT_COMPILE, &value));
    ck_assert_int_eq(value, 7);
}

TEST(names_are_those_of_nvlinks_messages)
{
    static const char *const names[EMBEDDED_COUNT][2] = {
        [EMBEDDED_LINE_INFO] = {"-lineinfo", "-generate-line-info"},
        [EMBEDDED_MAXREG] = {"-maxrregcount", "-maxreg "},
        [EMBEDDED_FTZ] = {"-ftz", "-ftz="},
        [EMBEDDED_PREC_DIV] = {"-prec-div", "-prec_div="},
        [EMBEDDED_PREC_SQRT] = {"-prec-sqrt", "-prec_sqrt="},
        [EMBEDDED_FMAD] = {"-fmad", "-fmad="},
        [EMBEDDED_SPLIT_COMPILE] = {"-split-compile", "-split-compile "},
    };

    for (int i = 0; i < EMBEDDED_COUNT; i++) {
        ck_assert_str_eq(embedded_table[i].name, names[i][0]);
        ck_assert_str_eq(embedded_table[i].spelling, names[i][1]);
    }
}
