/* check_parts.c: the PTX of several compilations of one program becomes one module. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/diag.h"
#include "ptx/parts.h"
#include "suite.h"

#define HEADER ".version 9.0\n.target sm_90\n.address_size 64\n"

static struct arena arena;
static struct parts_result result;
static struct diag_sink sink;

static void setup(void)
{
    context_get()->sink = &sink;
    arena = (struct arena){0};
}

static void teardown(void)
{
    context_get()->sink = NULL;
    diag_sink_free(&sink);
    arena_free(&arena);
}

/* Joins two texts given without their headers. */
static enum parts_answer join(const char *first, const char *second)
{
    struct text texts[2] = {text_of(arena_printf(&arena, HEADER "%s", first)),
                            text_of(arena_printf(&arena, HEADER "%s", second))};
    struct parts_request request = {.texts = texts, .count = 2};

    return parts_join(&result, &arena, &request);
}

/* How often a word stands in the result. */
static size_t times(const char *word)
{
    const char *at = arena_string(&arena, result.ptx);
    size_t count = 0;

    while ((at = strstr(at, word))) {
        count++;
        at += strlen(word);
    }
    return count;
}

START_TEST(what_stands_in_both_parts_is_taken_once)
{
    ck_assert_int_eq(join(".visible .global .u32 v = 3;\n.visible .entry k1() { ret; }\n",
                          ".visible .global .u32 v = 3;\n.visible .entry k2() { ret; }\n"),
                     PARTS_JOINED);
    ck_assert_uint_eq(times(".version"), 1);
    ck_assert_uint_eq(times(".global"), 1);
    ck_assert_uint_eq(times(".entry k1"), 1);
    ck_assert_uint_eq(times(".entry k2"), 1);
}
END_TEST

START_TEST(parts_disagree_about_a_value)
{
    ck_assert_int_eq(join(".visible .global .u32 v = 3;\n", ".visible .global .u32 v = 4;\n"),
                     PARTS_DISAGREE);
    ck_assert_ptr_nonnull(strstr(result.difference, "'v'"));
}
END_TEST

Suite *check_suite(void)
{
    Suite *all = suite_create("parts");
    TCase *cases = tcase_create("parts");

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, what_stands_in_both_parts_is_taken_once);
    tcase_add_test(cases, parts_disagree_about_a_value);
    suite_add_tcase(all, cases);
    return all;
}
