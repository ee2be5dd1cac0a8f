/* check_text_scan.c: lines and numbers are taken off the front of a text, which may be empty. */
#include <check.h>

#include "base/text_scan.h"
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

START_TEST(digits_are_taken_as_a_number)
{
    struct text text = text_of(numbers[_i].text);
    uint64_t number = 1;

    ck_assert_int_eq(text_scan_number(&text, &number), numbers[_i].is_number);
    ck_assert_uint_eq(number, numbers[_i].number);
    ck_assert(text_equal(text, text_of(numbers[_i].rest)));
}
END_TEST

/* Nothing is added to the address that it has not: clang's sanitizer looks. */
START_TEST(a_text_without_data_has_no_number_and_no_line)
{
    struct text text = {0}, line;
    uint64_t number;

    ck_assert(!text_scan_number(&text, &number));
    ck_assert(!text_scan_line(&text, &line));
    ck_assert_ptr_null(text.data);
}
END_TEST

START_TEST(lines_end_at_line_feeds_and_at_the_end)
{
    static const char *const lines[] = {"a", "", "b c\r", "d"};
    struct text text = TEXT("a\n\nb c\r\nd"), line;

    for (size_t i = 0; i < 4; i++) {
        ck_assert(text_scan_line(&text, &line));
        ck_assert(text_equal(line, text_of(lines[i])));
    }
    ck_assert(!text_scan_line(&text, &line));
}
END_TEST

Suite *check_suite(void)
{
    Suite *suite = suite_create("text_scan");
    TCase *tests = tcase_create("text_scan");

    tcase_add_loop_test(tests, digits_are_taken_as_a_number, 0, COUNT(numbers));
    tcase_add_test(tests, a_text_without_data_has_no_number_and_no_line);
    tcase_add_test(tests, lines_end_at_line_feeds_and_at_the_end);
    suite_add_tcase(suite, tests);
    return suite;
}
