/* check_opcode.c: the tables of instructions, modifiers and special registers. */
#include <check.h>
#include <stdio.h>

#include "toy/language/form.h"
#include "toy/language/opcode.h"
#include "suite.h"

struct list {
    uint16_t count;
    const char *(*name)(uint16_t index);
    uint16_t (*find)(struct text name);
};

static const char *opcode_name(uint16_t index)
{
    return opcode_get(index)->name;
}

static struct list list_at(int number)
{
    if (number == 0)
        return (struct list){opcode_count(), opcode_name, opcode_find};
    if (number == 1)
        return (struct list){modifier_count(), modifier_name, modifier_find};
    return (struct list){special_count(), special_name, special_find};
}

START_TEST(every_word_is_found_under_its_own_number)
{
    struct list list = list_at(_i);

    for (uint16_t i = 1; i < list.count; i++)
        ck_assert_msg(list.find(text_of(list.name(i))) == i, "'%s' is there twice", list.name(i));
}
END_TEST

START_TEST(unknown_words_and_numbers_give_zero_and_an_empty_name)
{
    struct list list = list_at(_i);
    static const char *const unknown[] = {"", "a-word-that-no-list-has", "zzz", "%", "."};

    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        ck_assert_uint_eq(list.find(text_of(unknown[i])), 0);
    ck_assert_str_eq(list.name(0), "");
    ck_assert_str_eq(list.name(list.count), "");
    ck_assert_str_eq(list.name(UINT16_MAX), "");
}
END_TEST

/* Numbers are part of the encoding: rows may be added at the end, never moved. */
START_TEST(numbers_do_not_change)
{
    ck_assert_uint_eq(opcode_find(TEXT("add")), 1);
    ck_assert_uint_eq(opcode_find(TEXT("ld")), 55);
    ck_assert_uint_eq(opcode_find(TEXT("setmaxnreg")), 135);
    ck_assert_uint_eq(modifier_find(TEXT("b1")), 1);
    ck_assert_uint_eq(modifier_find(TEXT("global")), 132);
    ck_assert_uint_eq(modifier_find(TEXT("pack")), 601);
    ck_assert_uint_eq(special_find(TEXT("%tid")), 1);
    ck_assert_uint_eq(special_find(TEXT("WARP_SZ")), 118);
}
END_TEST

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

START_TEST(nearest_word_is_by_edit_distance)
{
    struct text written = text_of(misspellings[_i].written);

    check_nearest(opcode_nearest(written), misspellings[_i].opcode);
    check_nearest(modifier_nearest(written), misspellings[_i].modifier);
    check_nearest(special_nearest(written), misspellings[_i].special);
    if (_i >= 5) {
        ck_assert_ptr_null(opcode_nearest(written));
        ck_assert_ptr_null(special_nearest(written));
    }
}
END_TEST

START_TEST(nothing_is_near_a_very_long_word)
{
    char word[4096];

    memset(word, 'a', sizeof word);
    ck_assert_ptr_null(opcode_nearest((struct text){word, sizeof word}));
}
END_TEST

/* Splits "ld.global.u32" and finds every part. */
static bool is_known(const char *spelling)
{
    size_t size = strcspn(spelling, ".");

    if (opcode_find((struct text){spelling, size}) == 0)
        return false;
    for (spelling += size; *spelling == '.'; spelling += size) {
        spelling++;
        size = strcspn(spelling, ".");
        if (modifier_find((struct text){spelling, size}) == 0)
            return false;
    }
    return true;
}

START_TEST(every_spelling_of_the_toolkit_is_known)
{
    FILE *file = fopen("fixtures/instructions/spellings.txt", "r");
    char line[256];
    int count = 0;

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        ck_assert_msg(is_known(line), "unknown: %s", line);
        count++;
    }
    fclose(file);
    ck_assert_int_gt(count, 2500);
}
END_TEST

START_TEST(every_form_has_known_words_and_fits_its_opcode)
{
    uint16_t opcode = 0, last = 0;
    struct form form;

    for (size_t i = 0; i < form_count(); i++, last = opcode) {
        const char *words = form_words(i, &opcode, &form);
        const struct opcode *entry = opcode_get(opcode);
        char spelling[256];

        ck_assert_msg(opcode >= last, "%s stands behind its place", entry->name);

        snprintf(spelling, sizeof spelling, "%s%s%s", entry->name, *words ? "." : "", words);
        ck_assert_msg(is_known(spelling), "unknown: %s", spelling);
        ck_assert_msg(entry->flags & OPCODE_FORMS, "%s lacks FORMS", entry->name);
        ck_assert_uint_le(form.least_operands, form.most_operands);
        ck_assert_uint_le(form.results, form.least_operands);
        ck_assert_uint_le(entry->least_operands, form.least_operands);
        ck_assert_uint_ge(entry->most_operands, form.most_operands);
    }
    ck_assert_ptr_null(form_words(form_count(), &opcode, &form));
}
END_TEST

static const struct {
    const char *spelling;
    struct form form;
} forms[] = {
    {"add.s32", {3, 4, 1, 0}},
    {"cp.async.wait_all", {0, 0, 0, 0}},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile", {2, 6, 0, 0}},
    {"cp.async.ca.shared.global", {3, 5, 0, 0}},
    {"bar.cta.red.popc.aligned.u32", {3, 4, 1, 0}},
    {"mbarrier.arrive.shared.b64", {2, 3, 1, 0}},
    {"mbarrier.arrive.expect_tx.shared.b64", {3, 3, 1, 0}},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", {3, 11, 1, FORM_ACCUMULATES}},
    {"tcgen05.ld.sync.aligned.32x32b.x1.b32", {2, 3, 1, 0}},
    {"st.global.u32", {2, 3, 0, 0}},
    {"fence.sc.gpu", {0, 0, 0, 0}},
};

START_TEST(form_follows_from_the_modifiers)
{
    const char *at = forms[_i].spelling;
    size_t size = strcspn(at, "."), count = 0;
    uint16_t opcode = opcode_find((struct text){at, size});
    uint16_t modifiers[INSTRUCTION_MODIFIERS];
    struct form form;

    for (at += size; *at == '.'; at += size) {
        at++;
        size = strcspn(at, ".");
        modifiers[count++] = modifier_find((struct text){at, size});
    }
    form = form_of(opcode, modifiers, count);
    ck_assert_uint_eq(form.least_operands, forms[_i].form.least_operands);
    ck_assert_uint_eq(form.most_operands, forms[_i].form.most_operands);
    ck_assert_uint_eq(form.results, forms[_i].form.results);
    ck_assert_uint_eq(form.flags, forms[_i].form.flags);
}
END_TEST

Suite *check_suite(void)
{
    Suite *suite = suite_create("opcode");
    TCase *tables = tcase_create("tables");
    TCase *rows = tcase_create("forms");

    tcase_add_loop_test(tables, every_word_is_found_under_its_own_number, 0, 3);
    tcase_add_loop_test(tables, unknown_words_and_numbers_give_zero_and_an_empty_name, 0, 3);
    tcase_add_test(tables, numbers_do_not_change);
    tcase_add_loop_test(tables, nearest_word_is_by_edit_distance, 0, COUNT(misspellings));
    tcase_add_test(tables, nothing_is_near_a_very_long_word);
    tcase_add_test(tables, every_spelling_of_the_toolkit_is_known);
    suite_add_tcase(suite, tables);
    tcase_add_test(rows, every_form_has_known_words_and_fits_its_opcode);
    tcase_add_loop_test(rows, form_follows_from_the_modifiers, 0, COUNT(forms));
    suite_add_tcase(suite, rows);
    return suite;
}
