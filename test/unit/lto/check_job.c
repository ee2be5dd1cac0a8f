/* check_job.c: jobs written and read again, and children that run them. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diag/diag.h"
#include "lto/answer.h"
#include "lto/job.h"
#include "lto/part.h"
#include "os/descriptor.h"
#include "suite.h"

static struct arena arena;
static struct buffer words;
static struct diag_sink said;

static const struct job_input list[] = {
    {.name = "a.o(1)", .offset = 0, .size = 5, .is_fatbin = true},
    {.name = "a name with blanks, \xff and = in it", .offset = 8, .size = 0},
};
static const struct job_inputs inputs = {list, 2, false};
static const uint8_t contents[8] = "01234567";

void set_up(void)
{
    diag_state_get()->sink = &said;
}

void tear_down(void)
{
    diag_state_get()->sink = NULL;
    diag_sink_free(&said);
    buffer_free(&words);
    arena_free(&arena);
    arena = (struct arena){0};
}

static void write_job(void)
{
    const char *const options[] = {"-lto", "", "-Xnvvm=-host-ref-ek=a,b"};

    job_write(&words, "/lib/x.so", options, 3, &inputs);
}

static bool read_job(struct lto_job *job, size_t size)
{
    return job_read(job, &arena, "a.job", (struct bytes){(const uint8_t *)words.data, size},
                    (struct bytes){contents, sizeof contents});
}

TEST(a_job_is_read_back)
{
    struct lto_job job;

    write_job();
    ck_assert(read_job(&job, words.size));
    ck_assert_str_eq(job.library, "/lib/x.so");
    ck_assert(!job.is_llvm);
    ck_assert_uint_eq(job.option_count, 3);
    ck_assert_str_eq(job.options[0], "-lto");
    ck_assert_str_eq(job.options[1], "");
    ck_assert_str_eq(job.options[2], "-Xnvvm=-host-ref-ek=a,b");
    ck_assert_uint_eq(job.input_count, 2);
    ck_assert(job.inputs[0].is_fatbin);
    ck_assert_ptr_eq(job.inputs[0].data.data, contents);
    ck_assert_uint_eq(job.inputs[0].data.size, 5);
    ck_assert(!job.inputs[1].is_fatbin);
    ck_assert_uint_eq(job.inputs[1].data.size, 0);
}

TEST(a_job_for_llvm_is_read_back)
{
    const char *const options[] = {"arch=sm_90", "link"};
    const struct job_inputs bitcode = {list, 1, true};
    struct lto_job job;

    job_write(&words, "/lib/libLLVM.so.19.1", options, 2, &bitcode);
    ck_assert(read_job(&job, words.size));
    ck_assert(job.is_llvm);
    ck_assert_str_eq(job.library, "/lib/libLLVM.so.19.1");
    ck_assert_uint_eq(job.option_count, 2);
    ck_assert_uint_eq(job.input_count, 1);
    ck_assert(!job.inputs[0].is_fatbin);
    ck_assert_uint_eq(job.inputs[0].data.size, 5);
}

/* Where a cut falls between two words, what is left is a job, too. */
TEST(a_cut_job_is_refused)
{
    write_job();
    for (size_t size = 0; size < words.size; size++) {
        struct lto_job job;
        bool is_word = size > 0 && words.data[size - 1] == '\0';

        if (!is_word)
            ck_assert(!read_job(&job, size));
        else if (read_job(&job, size))
            ck_assert_ptr_nonnull(job.library);
    }
    ck_assert_uint_gt(said.errors, 0);
}

TEST_LOOP(damaged_words_are_refused, 12)
{
    static const char *const damaged[] = {
        "library=again",
        "llvm=instead",
        "input=",
        "input=cubin 0 1",
        "input=fatbin 0 9",
        "word",
        "input=fatbin 9 0",
        "input=fatbin 0 1 a.o",
        "input=fatbin -1 1",
        "",
        "optio=x",
        "input=fatbin 1 18446744073709551615",
        "input=fatbin 99999999999999999999 1",
    };
    struct lto_job job;

    write_job();
    buffer_append(&words, damaged[_i], strlen(damaged[_i]) + 1);
    ck_assert(!read_job(&job, words.size));
    buffer_char(&said.text, '\0');
    ck_assert_ptr_nonnull(strstr(said.text.data, "a.job"));
}

static char program[4096], library[4096];

/* Runs two parts in children, in which the library behaves that way. */
static void run_two(struct parts_run *run, struct part *parts, const char *way)
{
    static const char *const options[] = {"-lto", "-ptx"};
    const char *build = getenv("BUILD");
    static struct buffer job;

    snprintf(program, sizeof program, "%s/minilink", build ? build : "build");
    snprintf(library, sizeof library, "%s/fake-nvjitlink.so", build ? build : "build");
    setenv("FAKE_PTX", "fixtures/fatbin/a.ptx", 1);
    setenv("FAKE_WAY", way, 1);
    job.size = 0;
    job_write(&job, library, options, 2, &inputs);
    *run = (struct parts_run){
        .program = program,
        .inputs = descriptor_memory_file("inputs"),
        .list = parts,
        .count = 2,
        .threads = 2,
        .jobserver = JOBSERVER_OFF,
    };
    ck_assert_int_eq(write(run->inputs, contents, sizeof contents), sizeof contents);
    for (size_t i = 0; i < 2; i++)
        parts[i] = (struct part){.answer = -1, .job = buffer_view(&job), .cost = i};
    parts_run(run);
    buffer_free(&job);
}

TEST(children_leave_answers)
{
    struct part parts[2];
    struct parts_run run;

    run_two(&run, parts, "");
    ck_assert_uint_eq(parts_first_failed(&run), 2);
    for (size_t i = 0; i < 2; i++) {
        struct lto_answer answer;

        ck_assert(answer_read(parts[i].answer, &arena, &answer));
        ck_assert_ptr_nonnull(strstr(answer.ptx.data, "// input input-00000000: type 4, 5 bytes"));
        ck_assert_uint_gt(parts[i].result.peak, 0);
        ck_assert_uint_gt(parts[i].nanoseconds, 0);
    }
    parts_free(&run);
    close(run.inputs);
}

TEST_LOOP(the_first_part_that_fails_is_told, 4)
{
    static const char *const ways[] = {"crash", "fail", "exit", "refuse"};
    struct part parts[2];
    struct parts_run run;

    run_two(&run, parts, ways[_i]);
    ck_assert_uint_eq(parts_first_failed(&run), 0);
    ck_assert(!parts[1].succeeded);
    parts_free(&run);
    close(run.inputs);
}

TEST(a_program_that_is_not_there_is_told)
{
    struct part part = {.answer = -1, .job = TEXT("x")};
    struct parts_run run = {
        .program = "/none/minilink", .inputs = 0, .list = &part, .count = 1, .threads = 1};

    parts_run(&run);
    ck_assert_uint_eq(parts_first_failed(&run), 0);
    ck_assert_int_eq(part.result.end, EXEC_NOT_STARTED);
    parts_free(&run);
}
