/* check_driver.c: the phases of the built-in assembler, each by what it does to a job. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "assembler/builtin/driver.h"
#include "assembler/builtin/language/target.h"
#include "base/buffer.h"
#include "base/context.h"
#include "job_fixture.h"
#include "suite.h"

#define KERNEL ".visible .entry k() { ret; }\n"

/* --- The table, and what is traced of it. --- */

static const char *const names[UNIT_PHASES] = {
    "Option Query and Cache Configuration",
    "Cancellation Check",
    "Timing Gate",
    "Callback Registration",
    "SM Version Validation",
    "Mode Flag Dispatch",
    "PTX Header Emission",
    "Tools-Patch Warnings",
    "Compilation Flag Setup",
    "Hash Maps and Codegen Context",
    "Register Callbacks on Module IR",
    "Address Width and Register Budget",
    "Entry Point Collection",
    "Transfer State into Codegen Context",
    "init_callback(ctx, entries)",
    "Load/Store Cache Mode",
    "Indirect Call and MMA Validation",
    "Scheduling Class Assignment",
    "Debug Info Setup",
    "Reserved Register Configuration",
    "Build Per-Function Codegen Config and CodegenPipeline",
    "Output File Setup",
    "Per-Function Compile Loop",
    "Post-Compilation Cleanup",
    "Pipeline Config Teardown",
    "Final Cleanup",
};

/* The log names the phases from `first` to `last`, counted from 1, in order. */
static const char *expect_phases(const char *log, size_t first, size_t last)
{
    char line[96];
    for (size_t i = first; i <= last; i++) {
        snprintf(line, sizeof line, "note: %02zu %s", i, names[i - 1]);
        log = strstr(log, line);
        ck_assert_msg(log != NULL, "no line \"%s\"", line);
    }
    return log;
}

START_TEST(a_trace_lists_the_phases_that_ran)
{
    static const char *const options[] = {"--phase-trace", NULL};
    struct outcome whole = assemble_with(HEADER KERNEL, "sm_90", options);
    expect(&whole, MINILINK_OK, "info: Phases of 'chunk':");
    expect_phases(log_of(&whole), 1, UNIT_PHASES);
    release(&whole);
    struct outcome failed = assemble_with(HEADER KERNEL, "sm_75", options);
    expect(&failed, MINILINK_FAILED, NULL);
    expect_phases(expect_phases(log_of(&failed), 1, 5), 25, 26);
    ck_assert_ptr_null(strstr(log_of(&failed), names[5]));
    release(&failed);
    struct outcome silent = assemble_with(HEADER KERNEL, "sm_90", NULL);
    expect(&silent, MINILINK_OK, NULL);
    ck_assert_ptr_null(silent.result.log);
    release(&silent);
}
END_TEST

/* --- Phase 2, and every moment after it. --- */

START_TEST(a_job_that_was_cancelled_ends_in_the_second_phase)
{
    static const char *const options[] = {"--phase-trace", NULL};
    volatile int cancelled = 1;
    struct minilink_job job = job_of(HEADER KERNEL, "sm_90", options);
    job.cancelled = &cancelled;
    struct outcome outcome = assemble(&job);
    expect(&outcome, MINILINK_CANCELLED, NULL);
    ck_assert_ptr_null(outcome.result.cubin);
    ck_assert_ptr_null(strstr(log_of(&outcome), names[3]));
    release(&outcome);
}
END_TEST

static char *many_kernels(size_t count)
{
    struct buffer ptx = {0};
    buffer_printf(&ptx, HEADER);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&ptx,
                      ".visible .entry k%zu(.param .u64 p) { .reg .b64 %%rd<3>; .reg .b32 %%r<3>;\n"
                      " ld.param.u64 %%rd1, [p]; ld.global.u32 %%r1, [%%rd1+%zu]; bar.sync %zu;\n"
                      " st.global.u32 [%%rd1], %%r1; ret; }\n",
                      i, 4 * i, i % 16);
    buffer_char(&ptx, '\0');
    return buffer_take(&ptx, NULL);
}

struct canceller {
    volatile int cancelled;
    uint64_t after; /* nanoseconds */
};

static void *cancel_later(void *argument)
{
    struct canceller *canceller = argument;
    const struct timespec time = {.tv_sec = (time_t)(canceller->after / 1000000000u),
                                  .tv_nsec = (long)(canceller->after % 1000000000u)};
    nanosleep(&time, NULL);
    __atomic_store_n(&canceller->cancelled, 1, __ATOMIC_RELAXED);
    return NULL;
}

static struct outcome cancel_after(struct minilink_job *job, uint64_t after)
{
    struct canceller canceller = {.after = after};
    pthread_t thread;
    job->cancelled = &canceller.cancelled;
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel_later, &canceller), 0);
    struct outcome outcome = assemble(job);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    return outcome;
}

static uint64_t time_of(const struct minilink_job *job)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    struct outcome outcome = assemble(job);
    clock_gettime(CLOCK_MONOTONIC, &end);
    expect(&outcome, MINILINK_OK, NULL);
    release(&outcome);
    return (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000u + (uint64_t)end.tv_nsec -
           (uint64_t)begin.tv_nsec;
}

/* Another thread says so, at one part after the other of the time that the job takes, until that is
 * in the phase that assembles functions. */
START_TEST(a_job_can_be_cancelled_between_functions)
{
    static const char *const choices[][3] = {{"--phase-trace", "--split-compile=1", NULL},
                                             {"--phase-trace", "--split-compile=3", NULL}};
    char *ptx = many_kernels(10000);
    struct minilink_job job = job_of(ptx, "sm_90", choices[_i]);
    uint64_t all = time_of(&job);
    bool was_between = false;
    for (uint64_t part = 0; !was_between && part < 100; part++) {
        struct outcome outcome = cancel_after(&job, all / 20 * (part * 7 % 20));
        if (outcome.code != MINILINK_OK) {
            expect(&outcome, MINILINK_CANCELLED, NULL);
            ck_assert_ptr_null(outcome.result.cubin);
        }
        was_between = strstr(log_of(&outcome), names[22]) && !strstr(log_of(&outcome), names[23]);
        release(&outcome);
    }
    ck_assert(was_between);
    free(ptx);
}
END_TEST

/* --- Phase 5. --- */

/* The real architectures of ptxas 13.0's --gpu-name. */
static const char *const archs[] = {"sm_75",   "sm_80",   "sm_86",  "sm_87",   "sm_88",   "sm_89",
                                    "sm_90",   "sm_90a",  "sm_100", "sm_100a", "sm_100f", "sm_103",
                                    "sm_103a", "sm_103f", "sm_110", "sm_110a", "sm_110f", "sm_120",
                                    "sm_120a", "sm_120f", "sm_121", "sm_121a", "sm_121f"};

static struct arch arch_of(const char *name)
{
    struct arch arch = {0};
    ck_assert(arch_parse(text_of(name), "sm_", &arch));
    return arch;
}

/* Where ptxas 13.0 compiles PTX for a target with a suffix. */
static const struct {
    const char *target;
    const char *runs_on;
} suffixed[] = {
    {"sm_90a", "sm_90a"},
    {"sm_100a", "sm_100a"},
    {"sm_100f", "sm_100 sm_100a sm_100f sm_103 sm_103a sm_103f"},
    {"sm_101a", "sm_110a"},
    {"sm_101f", "sm_110 sm_110a sm_110f"},
    {"sm_103a", "sm_103a"},
    {"sm_103f", "sm_103 sm_103a sm_103f"},
    {"sm_110a", "sm_110a"},
    {"sm_110f", "sm_110 sm_110a sm_110f"},
    {"sm_120a", "sm_120a"},
    {"sm_120f", "sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f"},
    {"sm_121a", "sm_121a"},
    {"sm_121f", "sm_121 sm_121a sm_121f"},
};

static bool has_word(const char *list, const char *word)
{
    struct text rest = text_of(list);
    while (rest.size) {
        const char *end = memchr(rest.data, ' ', rest.size);
        size_t size = end ? (size_t)(end - rest.data) : rest.size;
        if (text_equal((struct text){rest.data, size}, text_of(word)))
            return true;
        rest = (struct text){rest.data + size + (end != NULL), rest.size - size - (end != NULL)};
    }
    return false;
}

START_TEST(a_suffix_says_where_code_runs)
{
    struct arch target = arch_of(suffixed[_i].target);
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        ck_assert_msg((target_fit(target, arch_of(archs[i])) == TARGET_FITS) ==
                          has_word(suffixed[_i].runs_on, archs[i]),
                      "%s on %s", suffixed[_i].target, archs[i]);
}
END_TEST

START_TEST(without_a_suffix_code_runs_on_its_number_and_all_higher_ones)
{
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        struct arch target = arch_of(archs[i]);
        ck_assert(target_is_compiled_for(target));
        for (size_t k = 0; target.suffix == 0 && k < sizeof archs / sizeof *archs; k++)
            ck_assert_int_eq(target_fit(target, arch_of(archs[k])) == TARGET_FITS, k >= i);
    }
    ck_assert(!target_is_compiled_for(arch_of("sm_72")));
    ck_assert(!target_is_compiled_for(arch_of("sm_101a")));
    ck_assert(!target_is_compiled_for(arch_of("sm_89a")));
}
END_TEST

START_TEST(versions_are_those_that_ptxas_lists)
{
    static const unsigned minors[] = {0, 6, 4, 3, 4, 2, 6, 9, 9, 1, 0, 0};
    for (unsigned major = 0; major < 12; major++)
        for (unsigned minor = 0; minor < 12; minor++)
            ck_assert_int_eq(target_ptx_is_known(major, minor), minor < minors[major]);
}
END_TEST

static const struct {
    const char *version_and_target;
    const char *arch;
    const char *message; /* NULL = it assembles */
} targets[] = {
    {".version 6.2\n.target sm_75\n", "sm_75", "PTX .version 6.2 does not support its .target"},
    {".version 6.3\n.target sm_75\n", "sm_75", NULL},
    {".version 7.7\n.target sm_90\n", "sm_90", "PTX .version 7.7 does not support its .target"},
    {".version 7.8\n.target sm_90\n", "sm_90", NULL},
    {".version 7.8\n.target sm_90a\n", "sm_90a", "PTX .version 7.8 does not support its .target"},
    {".version 8.6\n.target sm_100a\n", "sm_100a", NULL},
    {".version 8.7\n.target sm_100f\n", "sm_100f", "PTX .version 8.7 does not support its .target"},
    {".version 8.8\n.target sm_100f\n", "sm_103", NULL},
    {".version 8.8\n.target sm_110\n", "sm_110", "PTX .version 8.8 does not support its .target"},
    {".version 9.1\n.target sm_90\n", "sm_90",
     "Unsupported .version 9.1; current version is '9.0'"},
    {".version 8.0\n.target sm_99\n", "sm_100", "Unsupported .target 'sm_99'"},
    {".version 6.5\n.target sm_30\n", "sm_90", NULL},
    {".version 8.0\n.target sm_80\n", "sm_73", "Architecture 'sm_73' is not supported"},
    {".version 8.0\n.target sm_80\n", "sm_75", "SM version specified by .target is higher"},
    {".version 9.0\n.target sm_90a\n", "sm_90", "PTX with .target 'sm_90a' cannot be compiled for"},
    {".version 9.0\n.target sm_90a\n", "sm_100",
     "Program with .target 'sm_90a' cannot be compiled to future architecture"},
    {".version 9.0\n.target sm_100f\n", "sm_120",
     "Program with .target 'sm_100f' cannot be compiled to different SM-family architecture"},
};

START_TEST(version_target_and_architecture_must_agree)
{
    char ptx[128];
    snprintf(ptx, sizeof ptx, "%s.address_size 64\n" KERNEL, targets[_i].version_and_target);
    struct outcome outcome = assemble_with(ptx, targets[_i].arch, NULL);
    expect(&outcome, targets[_i].message ? MINILINK_FAILED : MINILINK_OK, targets[_i].message);
    release(&outcome);
}
END_TEST

/* --- QUIRK 3: functions on threads are finished in one, in order. --- */

START_TEST(threads_show_neither_in_the_cubin_nor_in_the_log)
{
    static const char *const alone[] = {"--split-compile=1", "-v", NULL};
    static const char *const together[] = {"--split-compile=4", "--threads-min-section-size=0",
                                           "-v", NULL};
    char *ptx = many_kernels(40);
    struct outcome one = assemble_with(ptx, "sm_90", alone);
    struct outcome four = assemble_with(ptx, "sm_90", together);
    expect(&one, MINILINK_OK, "Compiling entry function 'k39'");
    expect(&four, MINILINK_OK, NULL);
    ck_assert_uint_eq(one.result.cubin_size, four.result.cubin_size);
    ck_assert_mem_eq(one.result.cubin, four.result.cubin, one.result.cubin_size);
    /* Not by ck_assert_str_eq, which gives up on long texts. */
    const char *here = log_of(&one);
    const char *there = log_of(&four);
    while (*here && *here == *there)
        here++, there++;
    ck_assert_msg(*here == *there, "%.300s\ninstead of\n%.300s", there, here);
    release(&one);
    release(&four);
    free(ptx);
}
END_TEST

Suite *check_suite(void)
{
    Suite *suite = suite_create("driver");
    TCase *tcase = tcase_create("driver");
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, a_trace_lists_the_phases_that_ran);
    tcase_add_test(tcase, a_job_that_was_cancelled_ends_in_the_second_phase);
    tcase_add_loop_test(tcase, a_job_can_be_cancelled_between_functions, 0, 2);
    tcase_add_loop_test(tcase, a_suffix_says_where_code_runs, 0, COUNT(suffixed));
    tcase_add_test(tcase, without_a_suffix_code_runs_on_its_number_and_all_higher_ones);
    tcase_add_test(tcase, versions_are_those_that_ptxas_lists);
    tcase_add_loop_test(tcase, version_target_and_architecture_must_agree, 0, COUNT(targets));
    tcase_add_test(tcase, threads_show_neither_in_the_cubin_nor_in_the_log);
    suite_add_tcase(suite, tcase);
    return suite;
}
