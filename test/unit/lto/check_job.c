/* check_job.c: jobs written and read again, and children that run them. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diag/diag.h"
#include "lto/job.h"
#include "lto/lto.h"
#include "lto/internal.h"
#include "os/file.h"
#include "suite.h"

static struct arena arena;
static struct text words;
static struct diag_sink said;

static const struct member members[] = {
    {.name = "a.o(1)"},
    {.name = "a name with blanks, \xff and = in it"},
};
static const struct job_input list[] = {
    {.member = &members[0], .offset = 0, .size = 5, .is_fatbin = true},
    {.member = &members[1], .offset = 8, .size = 0},
};
static const struct job_inputs inputs = {list, 2, false};
static const uint8_t contents[] = {0, 1, 2, 3, 4, 5, 6, 7};

void set_up(void)
{
    diag_state_get()->sink = &said;
}

void tear_down(void)
{
    diag_state_get()->sink = NULL;
    diag_sink_free(&said);
    arena_free(&arena);
    arena = (struct arena){0};
}

static void write_job(void)
{
    const char *const options[] = {"-lto", "", "-Xnvvm=-host-ref-ek=a,b", NULL};

    words = job_write(&arena, "/lib/x.so", options, &inputs);
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
    const char *const options[] = {"arch=sm_90", "link", NULL};
    const struct job_inputs bitcode = {list, 1, true};
    struct lto_job job;

    words = job_write(&arena, "/lib/libLLVM.so.19.1", options, &bitcode);
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
    words = arena_join(&arena, words, (struct text){damaged[_i], strlen(damaged[_i]) + 1});
    ck_assert(!read_job(&job, words.size));
    buffer_char(&said.text, '\0');
    ck_assert_ptr_nonnull(strstr(said.text.data, "a.job"));
}

static char program[4096], library[4096];

/* Runs two parts in children, in which the library behaves that way. Returns the first that fails.
 */
static size_t run_two(struct part_list *run, const char *way)
{
    static const char *const options[] = {"-lto", "-ptx", NULL};
    static const struct lto_request link = {.limits.jobserver = JOBSERVER_OFF, .threads = 2};
    const char *build = getenv("BUILD");

    snprintf(program, sizeof program, "%s/minilink", build ? build : "build");
    snprintf(library, sizeof library, "%s/fake-nvjitlink.so", build ? build : "build");
    setenv("FAKE_PTX", "fixtures/fatbin/a.ptx", 1);
    setenv("FAKE_WAY", way, 1);
    *run = (struct part_list){
        .link = &link, .program = program, .inputs_fd = descriptor_memory_file("inputs")};
    ck_assert_int_eq(write(run->inputs_fd, contents, sizeof contents), sizeof contents);
    part_make_all(run, 2);
    for (size_t i = 0; i < 2; i++) {
        run->list[i].job = job_write(&run->arena, library, options, &inputs);
        run->list[i].cost = i;
    }
    return part_run_all(run, &arena);
}

TEST(children_leave_answers)
{
    struct part_list run;

    ck_assert_uint_eq(run_two(&run, ""), 2);
    for (size_t i = 0; i < 2; i++) {
        const struct part *part = &run.list[i];

        ck_assert_ptr_nonnull(
            strstr(part->answer.ptx.data, "// input input-00000000: type 4, 5 bytes"));
        ck_assert_uint_gt(part->result.peak, 0);
        ck_assert_uint_gt(part->nanoseconds, 0);
    }
    part_end_all(&run);
}

TEST_LOOP(the_first_part_that_fails_is_told, 4)
{
    static const char *const ways[] = {"crash", "fail", "exit", "refuse"};
    struct part_list run;

    ck_assert_uint_eq(run_two(&run, ways[_i]), 0);
    ck_assert(!run.list[1].succeeded);
    part_end_all(&run);
}

TEST(a_program_that_is_not_there_is_told)
{
    const struct lto_request link = {0};
    struct part_list run = {.link = &link, .program = "/none/minilink", .inputs_fd = -1};

    part_make_all(&run, 1);
    run.list->job = TEXT("x");
    ck_assert_uint_eq(part_run_all(&run, &arena), 0);
    ck_assert_int_eq(run.list->result.end, EXEC_NOT_STARTED);
    part_end_all(&run);
}

TEST(memory_of_a_killed_child_is_told_in_mib)
{
    const struct lto_request link = {.library = "x.so"};
    struct part_list run = {.link = &link, .inputs_fd = -1};
    const struct part part = {
        .result = {.end = EXEC_SIGNALED, .code = SIGKILL, .peak = UINT64_C(7) << 20}};

    ck_assert(!lto_report_end(&run, &part, NULL));
    buffer_char(&said.text, '\0');
    ck_assert_ptr_nonnull(strstr(said.text.data, "It had 7 MiB; "));
}
