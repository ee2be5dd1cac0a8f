/* check_lto.c: what comes back from the process that runs libnvJitLink. The runs themselves are in
 * test/golden/lto*, with a library that plays it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exec.h"
#include "lto/nvjitlink.h"

static int file;
static struct arena arena;
static struct nvjitlink_answer answer;

static void set_up(void)
{
    file = exec_memory_file("answer");
    ck_assert_int_ge(file, 0);
}

static void tear_down(void)
{
    close(file);
    arena_free(&arena);
    arena = (struct arena){0};
}

/* A true answer: that a library cannot be loaded. */
static off_t write_answer(void)
{
    struct nvjitlink_job job = {.library = "/none.so", .answer = file};

    ck_assert_int_eq(nvjitlink_run(&job), 0);
    return lseek(file, 0, SEEK_END);
}

START_TEST(an_answer_is_read_back)
{
    write_answer();
    ck_assert(nvjitlink_read(file, &arena, &answer));
    ck_assert_int_eq(answer.step, NVJITLINK_LOAD);
    ck_assert_ptr_nonnull(strstr(answer.errors.data, "/none.so"));
    ck_assert_uint_eq(answer.infos.size, 0);
    ck_assert_uint_eq(answer.ptx.size, 0);
}
END_TEST

START_TEST(a_cut_or_extended_answer_is_none)
{
    off_t size = write_answer();

    for (off_t cut = 0; cut < size; cut++) {
        ck_assert_int_eq(ftruncate(file, cut), 0);
        ck_assert(!nvjitlink_read(file, &arena, &answer));
        ck_assert_int_eq(ftruncate(file, 0), 0);
        lseek(file, 0, SEEK_SET);
        ck_assert_int_eq(write_answer(), size);
    }
    ck_assert_int_eq(ftruncate(file, size + 1), 0);
    ck_assert(!nvjitlink_read(file, &arena, &answer));
}
END_TEST

/* Every byte of the head, set to 0xff: sizes and steps out of range must not be believed. */
START_TEST(a_damaged_head_is_refused_or_harmless)
{
    off_t size = write_answer();

    for (off_t at = 0; at < 48 && at < size; at++) {
        unsigned char old, damaged = 0xff;

        ck_assert_int_eq(pread(file, &old, 1, at), 1);
        ck_assert_int_eq(pwrite(file, &damaged, 1, at), 1);
        if (nvjitlink_read(file, &arena, &answer))
            ck_assert_uint_le(answer.errors.size + answer.infos.size + answer.ptx.size,
                              (size_t)size);
        ck_assert_int_eq(pwrite(file, &old, 1, at), 1);
    }
    ck_assert(nvjitlink_read(file, &arena, &answer));
}
END_TEST

START_TEST(every_code_has_a_text)
{
    for (int32_t code = -1; code < 30; code++)
        ck_assert_uint_gt(strlen(nvjitlink_code_text(code)), 0);
    ck_assert_str_eq(nvjitlink_code_text(5), "issue during NVVM compilation");
    ck_assert_str_eq(nvjitlink_code_text(99), "unknown error");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lto");
    TCase *cases = tcase_create("answers");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, an_answer_is_read_back);
    tcase_add_test(cases, a_cut_or_extended_answer_is_none);
    tcase_add_test(cases, a_damaged_head_is_refused_or_harmless);
    tcase_add_test(cases, every_code_has_a_text);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
