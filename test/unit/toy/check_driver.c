/* check_driver.c: the phases of the built-in assembler, each by what it does to a job. */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "pool/dispatch.h"
#include "facts/targets.h"
#include "toy/internal.h"
#include "job_fixture.h"

#define KERNEL ".visible .entry k() { ret; }\n"

/* --- What the assembler does to functions, watched at compile_function() and dispatch_run(), which
 * the linker puts these two in front of. --- */

static struct watch {
    bool first_waits; /* the first function waits until a second one is there */
    bool sleeps;      /* each function takes 2 ms more */
    int cancel_at;    /* the call that cancels the job, from 1; 0 = none */
    bool was_alone;   /* no second function came */
    size_t tasks;     /* that a pool was given */
    uint32_t threads; /* of it */
    volatile int cancelled;
    atomic_uint started; /* calls of compile_function() */
} watch;
static sem_t watch_second;

static void watch_begin(struct watch begin)
{
    watch = begin;
}

bool __real_compile_function(const struct unit *, struct function_code *);
bool __wrap_compile_function(const struct unit *, struct function_code *);
uint32_t __real_dispatch_run(const struct dispatch_request *);
uint32_t __wrap_dispatch_run(const struct dispatch_request *);

bool __wrap_compile_function(const struct unit *unit, struct function_code *function)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    int number = (int)atomic_fetch_add(&watch.started, 1) + 1;

    if (number == watch.cancel_at)
        __atomic_store_n(&watch.cancelled, 1, __ATOMIC_SEQ_CST);
    while (watch.cancel_at && number > watch.cancel_at && !watch.cancelled)
        sched_yield(); /* no other thread gets further before that */
    if (watch.sleeps)
        nanosleep(&pause, NULL);
    if (watch.first_waits && number == 1) {
        struct timespec end;

        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += 100;
        while (sem_timedwait(&watch_second, &end) != 0 && !watch.was_alone)
            watch.was_alone = errno == ETIMEDOUT;
    } else if (watch.first_waits) {
        sem_post(&watch_second);
    }
    return __real_compile_function(unit, function);
}

uint32_t __wrap_dispatch_run(const struct dispatch_request *request)
{
    watch.tasks = request->count;
    watch.threads = request->threads;
    return __real_dispatch_run(request);
}

/* --- What is traced. The names are those of the golden assembler-modes. --- */

/* The log names the phases with numbers from `first` to `last`, in order. */
static const char *expect_phases(const char *log, unsigned first, unsigned last)
{
    char line[96];

    for (size_t i = 0; i < DRIVER_PHASES; i++) {
        if (driver_phases[i].number < first || driver_phases[i].number > last)
            continue;
        snprintf(line, sizeof line, "note: %02u %s", driver_phases[i].number,
                 driver_phases[i].name);
        log = strstr(log, line);
        ck_assert_msg(log != NULL, "no line \"%s\"", line);
    }
    return log;
}

TEST(a_trace_lists_the_phases_that_ran)
{
    static const char *const options[] = {"--phase-trace", NULL};
    OWNED_OUTCOME whole = assemble_with(HEADER KERNEL, "sm_90", options);

    expect(&whole, MINILINK_OK, "info: Phases of 'chunk':");
    expect_phases(log_of(&whole), 1, 26);
    OWNED_OUTCOME failed = assemble_with(HEADER KERNEL, "sm_75", options);
    expect(&failed, MINILINK_FAILED, NULL);
    expect_phases(expect_phases(log_of(&failed), 1, 5), 25, 26);
    ck_assert_ptr_null(strstr(log_of(&failed), "note: 06"));
    OWNED_OUTCOME silent = assemble_with(HEADER KERNEL, "sm_90", NULL);
    expect(&silent, MINILINK_OK, NULL);
    ck_assert_ptr_null(silent.result.log);
}

/* --- Phase 2, and every moment after it. --- */

TEST(a_job_that_was_cancelled_ends_in_the_second_phase)
{
    static const char *const options[] = {"--phase-trace", NULL};

    volatile int cancelled = 1;
    struct minilink_job job = job_of(HEADER KERNEL, "sm_90", options);
    job.cancelled = &cancelled;
    OWNED_OUTCOME outcome = assemble(&job);
    expect(&outcome, MINILINK_CANCELLED, NULL);
    ck_assert_ptr_null(outcome.result.cubin);
    ck_assert_ptr_null(strstr(log_of(&outcome), "note: 04"));
}

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
    return buffer_take(&ptx, NULL);
}

/* The job is cancelled while its second function is assembled. */
TEST_LOOP(a_job_can_be_cancelled_between_functions, 2)
{
    static const char *const choices[][3] = {{"--phase-trace", "--split-compile=1", NULL},
                                             {"--phase-trace", "--split-compile=3", NULL}};
    FREED char *ptx = many_kernels(40);
    struct minilink_job job = job_of(ptx, "sm_90", choices[_i]);

    job.cancelled = &watch.cancelled;
    watch_begin((struct watch){.cancel_at = 2});
    OWNED_OUTCOME outcome = assemble(&job);
    expect(&outcome, MINILINK_CANCELLED, NULL);
    ck_assert_ptr_null(outcome.result.cubin);
    ck_assert(strstr(log_of(&outcome), "note: 23") && !strstr(log_of(&outcome), "note: 24"));
    /* Two more may have been on their way. */
    ck_assert_uint_lt(atomic_load(&watch.started), 5);
}

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
    return strstr(suite_print(" %s ", list), suite_print(" %s ", word)) != NULL;
}

TEST_LOOP(a_suffix_says_where_code_runs, COUNT(suffixed))
{
    struct arch target = arch_of(suffixed[_i].target);

    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        ck_assert_msg(runs_on_ptx(arch_of(archs[i]), target, toolkits_newest()) ==
                          has_word(suffixed[_i].runs_on, archs[i]),
                      "%s on %s", suffixed[_i].target, archs[i]);
}

TEST(without_a_suffix_code_runs_on_its_number_and_all_higher_ones)
{
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        struct arch target = arch_of(archs[i]);

        ck_assert(targets_know(target, NULL));
        for (size_t k = 0; target.suffix == 0 && k < sizeof archs / sizeof *archs; k++)
            ck_assert_int_eq(runs_on_ptx(arch_of(archs[k]), target, toolkits_newest()), k >= i);
    }
    ck_assert(!targets_know(arch_of("sm_72"), NULL));
    ck_assert(!targets_know(arch_of("sm_101a"), NULL));
    ck_assert(!targets_know(arch_of("sm_89a"), NULL));
}

TEST(versions_are_those_that_ptxas_lists)
{
    static const unsigned minors[] = {0, 6, 4, 3, 4, 2, 6, 9, 9, 6, 0, 0};

    for (unsigned major = 0; major < 12; major++)
        for (unsigned minor = 0; minor < 12; minor++)
            ck_assert_int_eq(toolkits_ptx_is_known(major, minor), minor < minors[major]);
}

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
    {".version 9.5\n.target sm_90\n", "sm_90", NULL},
    {".version 9.6\n.target sm_90\n", "sm_90", NULL},
    {".version 10.0\n.target sm_90\n", "sm_90", NULL},
    {".version 7.9\n.target sm_90\n", "sm_90", "Unsupported .version 7.9"},
    {".version 9.3\n.target sm_107a\n", "sm_107a", "PTX .version 9.3 does not support its .target"},
    {".version 9.4\n.target sm_107f\n", "sm_107a", NULL},
    {".version 9.4\n.target sm_100f\n", "sm_107f", NULL},
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

TEST_LOOP(version_target_and_architecture_must_agree, COUNT(targets))
{
    OWNED_OUTCOME outcome =
        assemble_with(suite_print("%s.address_size 64\n" KERNEL, targets[_i].version_and_target),
                      targets[_i].arch, NULL);
    expect(&outcome, targets[_i].message ? MINILINK_FAILED : MINILINK_OK, targets[_i].message);
}

/* --- QUIRK 3: functions on threads are finished in one, in order. --- */

TEST(threads_show_neither_in_the_cubin_nor_in_the_log)
{
    static const char *const alone[] = {"--split-compile=1", "-v", NULL};
    static const char *const together[] = {"--split-compile=4", "--threads-min-section-size=0",
                                           "-v", NULL};
    FREED char *ptx = many_kernels(40);
    OWNED_OUTCOME one = assemble_with(ptx, "sm_90", alone);
    OWNED_OUTCOME four = assemble_with(ptx, "sm_90", together);

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
}

/* --- Phase 23: functions on a pool. --- */

/* 10 kernels of the same size, assembled with options; tasks (`count`) and threads as expected, 0
 * for the number of processors. */
static const struct {
    const char *options;
    uint32_t threads_of_job;
    size_t count;
    uint32_t threads;
} pools[] = {
    {"--split-compile=1", 1, 1, 1},
    {"--split-compile=2 --threads-min-section-size=0", 1, 10, 2},
    {"--split-compile=2 --threads-min-section-size=1000000", 1, 1, 2},
    {"--split-compile=2 --threads-dynamic-scheduling=false --threads-min-section-size=0", 1, 2, 2},
    {"--split-compile=0 --threads-min-section-size=0", 1, 10, 0},
    {"--threads-min-section-size=0", 3, 10, 3},
    {"--threads-min-section-size=0 -O1", 3, 10, 1},
    {"--threads-min-section-size=0 -O1 --allow-expensive-optimizations=true", 3, 10, 3},
    {"--threads-min-section-size=0 -O2 --allow-expensive-optimizations=false", 3, 10, 1},
};

TEST_LOOP(options_say_how_many_threads_and_tasks_functions_have, COUNT(pools))
{
    FREED char *ptx = many_kernels(10);
    struct option_words words;
    struct minilink_job job = job_of(ptx, "sm_90", split(&words, pools[_i].options));

    job.threads = pools[_i].threads_of_job;
    watch_begin((struct watch){0});
    OWNED_OUTCOME outcome = assemble(&job);
    expect(&outcome, MINILINK_OK, NULL);
    ck_assert_uint_eq(watch.tasks, pools[_i].count);
    ck_assert_uint_eq(watch.threads, pools[_i].threads ? pools[_i].threads : pool_cpu_count());
    ck_assert_uint_eq(atomic_load(&watch.started), 10);
}

TEST(functions_of_one_chunk_are_assembled_at_the_same_time)
{
    static const char *const options[] = {"--split-compile=2", "--threads-min-section-size=0",
                                          NULL};
    FREED char *ptx = many_kernels(10);
    struct minilink_job job = job_of(ptx, "sm_90", options);

    ck_assert_int_eq(sem_init(&watch_second, 0, 0), 0);
    watch_begin((struct watch){.first_waits = true});
    OWNED_OUTCOME outcome = assemble(&job);
    expect(&outcome, MINILINK_OK, NULL);
    ck_assert(!watch.was_alone);
}

TEST(numbers_of_phases_ascend)
{
    for (size_t i = 1; i < DRIVER_PHASES; i++)
        ck_assert_uint_gt(driver_phases[i].number, driver_phases[i - 1].number);
}

/* Each function takes 2 ms at least. */
TEST(the_trace_has_the_time_of_each_phase)
{
    static const char *const options[] = {"--phase-trace", NULL};
    double spent;

    watch_begin((struct watch){.sleeps = true});
    OWNED_OUTCOME outcome = assemble_with(HEADER KERNEL, "sm_90", options);
    expect(&outcome, MINILINK_OK, NULL);
    const char *loop = strstr(log_of(&outcome), "Compile Loop");
    ck_assert_ptr_nonnull(loop);
    ck_assert_int_eq(sscanf(loop, "Compile Loop %lf ms", &spent), 1);
    ck_assert(spent >= 2);
}
