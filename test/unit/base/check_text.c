/* check_text.c: lines and numbers are taken off the front of a text, which may be empty. */

#include "base/text.h"
#include "suite.h"

static const struct {
    const char *text;
    uint64_t number;
    const char *rest;
    bool is_number;
} numbers[] = {
    {"", 0, "", false},
    {"x1", 0, "x1", false},
    {"-1", 0, "-1", false},
    {"0", 0, "", true},
    {"007 8", 7, " 8", true},
    {"18446744073709551614", UINT64_MAX - 1, "", true},
    {"18446744073709551616:", UINT64_MAX, ":", true},
    {"99999999999999999999990", UINT64_MAX, "", true},
};

TEST_LOOP(digits_are_taken_as_a_number, COUNT(numbers))
{
    struct text text = text_of(numbers[_i].text);
    uint64_t number = 1;

    ck_assert_int_eq(text_scan_number(&text, &number), numbers[_i].is_number);
    ck_assert_uint_eq(number, numbers[_i].number);
    ck_assert(text_equal(text, text_of(numbers[_i].rest)));
}

/* Nothing is added to the address that it has not: clang's sanitizer looks. */
TEST(a_text_without_data_has_no_number_and_no_line)
{
    struct text text = {0}, line;
    uint64_t number;

    ck_assert(!text_scan_number(&text, &number));
    ck_assert(!text_scan_line(&text, &line));
    ck_assert_ptr_null(text.data);
}

/* The same of a section without contents. */
TEST(a_part_of_nothing_is_nothing)
{
    struct bytes part;

    ck_assert(bytes_slice((struct bytes){0}, 0, 0, &part));
    ck_assert_ptr_null(part.data);
    ck_assert(!bytes_slice((struct bytes){0}, 0, 1, &part));
    ck_assert(!bytes_slice((struct bytes){0}, 1, 0, &part));
}

TEST(lines_end_at_line_feeds_and_at_the_end)
{
    static const char *const lines[] = {"a", "", "b c\r", "d"};
    struct text text = TEXT("a\n\nb c\r\nd"), line;

    for (size_t i = 0; i < 4; i++) {
        ck_assert(text_scan_line(&text, &line));
        ck_assert(text_equal(line, text_of(lines[i])));
    }
    ck_assert(!text_scan_line(&text, &line));
}
