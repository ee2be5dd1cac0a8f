/* check_opcode.c: the tables of instructions, modifiers and special registers. */

#include "language/syntax.h"
#include "suite.h"

static const struct words *const lists[] = {&opcode_words, &modifier_words, &special_words};

TEST_LOOP(every_word_is_found_under_its_own_number, 3)
{
    const struct words *list = lists[_i];

    for (uint16_t i = 1; i < list->count; i++)
        ck_assert_msg(words_find(list, list->list[i]) == i, "'%s' is there twice",
                      words_name(list, i));
}

TEST_LOOP(unknown_words_and_numbers_give_zero_and_an_empty_name, 3)
{
    const struct words *list = lists[_i];
    static const char *const unknown[] = {"", "a-word-that-no-list-has", "zzz", "%", "."};

    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        ck_assert_uint_eq(words_find(list, text_of(unknown[i])), 0);
    ck_assert_str_eq(words_name(list, 0), "");
    ck_assert_str_eq(words_name(list, list->count), "");
    ck_assert_str_eq(words_name(list, UINT16_MAX), "");
}

/* Numbers are part of the encoding: rows may be added at the end, never moved. */
TEST(numbers_do_not_change)
{
    ck_assert_uint_eq(words_find(&opcode_words, TEXT("add")), 1);
    ck_assert_uint_eq(words_find(&opcode_words, TEXT("ld")), 55);
    ck_assert_uint_eq(words_find(&opcode_words, TEXT("setmaxnreg")), 135);
    ck_assert_uint_eq(modifier_find(TEXT("b1")), 1);
    ck_assert_uint_eq(modifier_find(TEXT("global")), 132);
    ck_assert_uint_eq(modifier_find(TEXT("pack")), 601);
    ck_assert_uint_eq(words_find(&special_words, TEXT("%tid")), 1);
    ck_assert_uint_eq(words_find(&special_words, TEXT("WARP_SZ")), 118);
}

static const struct {
    const char *written;
    const char *opcode;
    const char *modifier;
    const char *special;
} misspellings[] = {
    {"addd", "add", NULL, NULL},
    {"mbarier", "mbarrier", "mbarrier", NULL},
    {"L2::cache_hnt", NULL, "L2::cache_hint", NULL},
    {"satfinit", NULL, "satfinite", NULL},
    {"%clok64", NULL, NULL, "%clock64"},
    {"xyzzyplugh", NULL, NULL, NULL},
    {"", NULL, NULL, NULL},
};

static void check_nearest(const char *found, const char *expected)
{
    if (expected)
        ck_assert_pstr_eq(found, expected);
}

TEST_LOOP(nearest_word_is_by_edit_distance, COUNT(misspellings))
{
    struct text written = text_of(misspellings[_i].written);

    check_nearest(words_nearest(&opcode_words, written), misspellings[_i].opcode);
    check_nearest(words_nearest(&modifier_words, written), misspellings[_i].modifier);
    check_nearest(words_nearest(&special_words, written), misspellings[_i].special);
    if (_i >= 5) {
        ck_assert_ptr_null(words_nearest(&opcode_words, written));
        ck_assert_ptr_null(words_nearest(&special_words, written));
    }
}

TEST(nothing_is_near_a_very_long_word)
{
    char word[4096];

    memset(word, 'a', sizeof word);
    ck_assert_ptr_null(words_nearest(&opcode_words, (struct text){word, sizeof word}));
}
