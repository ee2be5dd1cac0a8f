/* check_lto.c: runs of a library that plays libnvJitLink, what comes back from them, and members
 * that cannot do without it. Whole links are in test/golden/lto*. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diag/diag.h"
#include "lto/lto.h"
#include "lto/internal.h"
#include "lto/job.h"
#include "os/file.h"
#include "suite.h"

static int file;
static struct lto_answer answer;

void set_up(void)
{
    file = descriptor_memory_file("answer");
    ck_assert_int_ge(file, 0);
}

void tear_down(void)
{
    close(file);
}

/* A true answer: that a library cannot be loaded. */
static off_t write_answer(void)
{
    struct lto_job job = {.library = "/none.so", .answer = file};

    ck_assert_int_eq(nvjitlink_run(&job), 0);
    return lseek(file, 0, SEEK_END);
}

static bool read_answer(void)
{
    static char bytes[65536];
    ssize_t size = pread(file, bytes, sizeof bytes - 1, 0);

    ck_assert_int_ge(size, 0);
    bytes[size] = '\0';
    return answer_read(&answer, (struct bytes){(const uint8_t *)bytes, (size_t)size});
}

/* A part that was not run has no file: what is closed is not the standard input. */
TEST(parts_that_were_not_run_close_nothing)
{
    struct part_list parts = {.inputs_fd = -1};

    ck_assert_int_eq(dup2(file, STDIN_FILENO), STDIN_FILENO);
    part_make_all(&parts, 2);
    part_make_all(&parts, 1);
    part_end_all(&parts);
    ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
}

TEST(an_answer_is_read_back)
{
    write_answer();
    ck_assert(read_answer());
    ck_assert_int_eq(answer.head.step, LTO_STEP_LOAD);
    ck_assert_ptr_nonnull(strstr(answer.errors.data, "/none.so"));
    ck_assert_uint_eq(answer.infos.size, 0);
    ck_assert_uint_eq(answer.ptx.size, 0);
}

TEST(a_cut_or_extended_answer_is_none)
{
    off_t size = write_answer();

    for (off_t cut = 0; cut < size; cut++) {
        ck_assert_int_eq(ftruncate(file, cut), 0);
        ck_assert(!read_answer());
        ck_assert_int_eq(ftruncate(file, 0), 0);
        lseek(file, 0, SEEK_SET);
        ck_assert_int_eq(write_answer(), size);
    }
    ck_assert_int_eq(ftruncate(file, size + 1), 0);
    ck_assert(!read_answer());
}

/* Every byte of the head, set to 0xff: sizes and steps out of range must not be believed. */
TEST(a_damaged_head_is_refused_or_harmless)
{
    off_t size = write_answer();

    for (off_t at = 0; at < 48 && at < size; at++) {
        unsigned char old, damaged = 0xff;

        ck_assert_int_eq(pread(file, &old, 1, at), 1);
        ck_assert_int_eq(pwrite(file, &damaged, 1, at), 1);
        if (read_answer())
            ck_assert_uint_le(answer.errors.size + answer.infos.size + answer.ptx.size,
                              (size_t)size);
        ck_assert_int_eq(pwrite(file, &old, 1, at), 1);
    }
    ck_assert(read_answer());
}

/* Sizes that are right only where their sum goes over 64 bits. */
TEST(sizes_beyond_the_answer_are_refused)
{
    /* By how much the error's and the info's size are too large. */
    static const uint64_t beyond[][2] = {{1, 0}, {0, 1}, {1, 1}, {0, 0}};
    struct answer_head head;
    off_t size = write_answer();

    ck_assert_int_eq(pread(file, &head, sizeof head, 0), sizeof head);
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        struct answer_head wrong = head;

        wrong.error_size = beyond[i][0] ? (uint64_t)size - sizeof head + beyond[i][0] : 4;
        wrong.info_size = beyond[i][1] ? (uint64_t)size - sizeof head - 4 + beyond[i][1] : 0;
        wrong.ptx_size =
            (uint64_t)size - sizeof head - wrong.error_size - wrong.info_size + (i == 3);
        ck_assert_int_eq(pwrite(file, &wrong, sizeof wrong, 0), sizeof wrong);
        ck_assert(!read_answer());
    }
    ck_assert_int_eq(pwrite(file, &head, sizeof head, 0), sizeof head);
    ck_assert(read_answer());
}

/* Whatever sizes there are, each input begins at a multiple of eight: libraries read them in place.
 */
TEST(inputs_are_aligned)
{
    static const uint8_t code[] = "LTO-IR of some size";
    struct member list[4];
    struct members members = {.list = list, .count = 4, .lto_count = 4};
    const struct lto_request link = {.members = &members};
    struct part_list run = {.link = &link};

    for (size_t i = 0; i < 4; i++)
        list[i] = (struct member){
            .name = "a", .role = MEMBER_LTO, .entry = {.payload = {code, 5 + 3 * i}}};
    lto_inputs_write(&run, MEMBER_LTO);
    ck_assert_uint_eq(run.inputs.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct job_input *input = &run.inputs.list[i];
        char bytes[sizeof code];

        ck_assert_uint_eq(input->offset % 8, 0);
        ck_assert_uint_eq(input->size, 5 + 3 * i);
        ck_assert_int_ge(pread(run.inputs_fd, bytes, sizeof bytes, (off_t)input->offset),
                         (ssize_t)input->size);
        ck_assert_int_eq(memcmp(bytes, code, input->size), 0);
    }
    part_end_all(&run);
}

TEST(every_code_has_a_text)
{
    for (int32_t code = -1; code < 30; code++)
        ck_assert_uint_gt(strlen(nvjitlink_code_text(code)), 0);
    ck_assert_str_eq(nvjitlink_code_text(5), "issue during NVVM compilation");
    ck_assert_str_eq(nvjitlink_code_text(99), "unknown error");
}

/* Runs the library of that name in $BUILD, which shall misbehave in that way, on two inputs. */
static void run_library(const char *name, const char *way)
{
    static const char *options[] = {"-lto", "-ptx"};
    const uint8_t code[] = "LTO-IR";
    const struct job_input inputs[] = {{.data = {code, sizeof code}},
                                       {.data = {code, sizeof code}}};
    const char *build = getenv("BUILD");
    char path[4096];
    struct lto_job job = {.library = path,
                          .options = options,
                          .option_count = 2,
                          .inputs = inputs,
                          .input_count = 2,
                          .answer = file};

    snprintf(path, sizeof path, "%s/%s", build ? build : "build", name);
    setenv("FAKE_PTX", "fixtures/fatbin/a.ptx", 1);
    setenv("FAKE_WAY", way, 1);
    ck_assert_int_eq(nvjitlink_run(&job), 0);
    ck_assert(read_answer());
}

TEST(a_run_gives_the_librarys_ptx_and_log)
{
    run_library("fake-nvjitlink.so", "");
    ck_assert_int_eq(answer.head.step, LTO_STEP_DONE);
    ck_assert_int_eq(answer.head.code, 0);
    ck_assert_uint_eq(answer.head.major, 12);
    ck_assert_uint_eq(answer.head.minor, 9);
    ck_assert_ptr_nonnull(strstr(answer.ptx.data, "// options: -lto -ptx\n"));
    ck_assert_ptr_nonnull(strstr(answer.ptx.data, "// input input-00000001: type 3, 7 bytes\n"));
    ck_assert_ptr_nonnull(strstr(answer.ptx.data, ".version"));
    ck_assert(text_equal(answer.infos, TEXT("WARNING: something odd\nsomething to know\n")));
    ck_assert_uint_eq(answer.errors.size, 0);
}

TEST(a_library_that_does_not_tell_its_version_has_names_that_do)
{
    run_library("fake-nvjitlink-12_0.so", "");
    ck_assert_int_eq(answer.head.step, LTO_STEP_DONE);
    ck_assert_uint_eq(answer.head.major, 12);
    ck_assert_uint_eq(answer.head.minor, 0);
}

TEST(each_step_that_fails_is_told)
{
    static const struct {
        const char *way;
        enum lto_step step;
        int32_t code;
    } rows[] = {{"create", LTO_STEP_CREATE, 1},
                {"refuse", LTO_STEP_ADD, 14},
                {"fail", LTO_STEP_COMPLETE, 5},
                {"empty", LTO_STEP_PTX, 0}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(ftruncate(file, 0), 0);
        lseek(file, 0, SEEK_SET);
        run_library("fake-nvjitlink.so", rows[i].way);
        ck_assert_int_eq(answer.head.step, rows[i].step);
        ck_assert_int_eq(answer.head.code, rows[i].code);
        ck_assert_uint_eq(answer.ptx.size, 0);
        ck_assert_uint_eq(answer.head.failed_input, rows[i].step >= LTO_STEP_COMPLETE);
    }
}

TEST(a_library_without_the_functions_is_told)
{
    run_library("sample-plugin.so", "");
    ck_assert_int_eq(answer.head.step, LTO_STEP_LOAD);
    ck_assert_str_eq(answer.errors.data, "it has no function 'nvJitLinkCreate'");
}

TEST(ltoir_without_ptx_beside_it_is_refused_by_name)
{
    struct member list[] = {
        {.name = "a.o(1)", .group = 1, .role = MEMBER_OPTIONS},
        {.name = "a.o(2)", .group = 1, .role = MEMBER_PTX},
        {.name = "b.o(1)", .group = 2, .role = MEMBER_OPTIONS},
        {.name = "c.o(1)", .group = 3, .role = MEMBER_CUBIN},
        {.name = "c.o(2)", .group = 3, .role = MEMBER_OPTIONS},
        {.name = "d.o(1)", .group = 4, .role = MEMBER_UNUSED},
        {.name = "e.o(1)", .group = 5, .role = MEMBER_OPTIONS},
    };
    struct members members = {.list = list, .count = 7, .arch = {.sm = 90}, .has_lto_only = true};
    struct diag_sink sink = {0};

    diag_state_get()->sink = &sink;
    ck_assert(!lto_refuse_alone(&members));
    ck_assert_uint_eq(sink.errors, 2);
    buffer_char(&sink.text, '\0');
    ck_assert_ptr_nonnull(strstr(sink.text.data, "'b.o(1)' is LTO-IR without PTX beside it"));
    ck_assert_ptr_nonnull(strstr(sink.text.data, "'e.o(1)'"));
    ck_assert_ptr_nonnull(strstr(sink.text.data, "-arch=sm_90"));
    members.count = 2;
    ck_assert(lto_refuse_alone(&members));
    diag_state_get()->sink = NULL;
    diag_sink_free(&sink);
}
