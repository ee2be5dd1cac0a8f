/* Tests of programs that are started once and copied for each job. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "os/program.h"
#include "os/file.h"
#include "os/fork_server.h"
#include "suite.h"

static char program[PATH_MAX], word[64];
static struct exec_result result;
static volatile int cancelled;
static unsigned timeout;
static bool is_repeated;
static int input, output, before;
static long server, did, told; /* the numbers of the last job's output: processes, and its mode's */

/* After it, a test that waits for a server that will never answer ends as a failure: far more than
 * one takes under a tool that checks it on a busy machine. */
#define MOST_SECONDS 40

/* Words that no other test has: the linker remembers them. */
void set_up(void)
{
    static int count;
    ssize_t size;

    alarm(MOST_SECONDS);
    fork_server_patience = 600000;
    before = files_count_open();
    size = readlink("/proc/self/exe", program, sizeof program - 32);
    ck_assert_int_gt(size, 0);
    program[size] = '\0';
    dirname(program);
    strcat(program, "/plain_program");
    snprintf(word, sizeof word, "%ld-%d", (long)getpid(), count++);
    input = descriptor_memory_file("input");
    output = descriptor_memory_file("output");
}

void tear_down(void)
{
    fork_server_end_all();
    close(input);
    close(output);
    ck_assert_int_eq(files_count_open(), before);
    free(result.output);
}

static void set_text(int fd, const char *text)
{
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    ck_assert(descriptor_write_at(fd, text, strlen(text), 0));
}

/* Whether the job was done; without files only starts a server. */
static bool run_with(const char *mode, const int *files, const volatile int *is_cancelled,
                     struct exec_result *ended)
{
    const char *const argv[] = {program, mode, word, fork_server_files[0], fork_server_files[1],
                                NULL};
    const struct fork_server_job job = {
        .run = {.argv = argv,
                .large_pages = true,
                .output_limit = 1000,
                .timeout = timeout,
                .cancelled = is_cancelled},
        .files = files,
        .file_count = 2,
        .is_preloaded = strcmp(mode, "own") != 0,
        .is_repeated = is_repeated,
    };

    if (files)
        return fork_server_run(&job, ended);
    fork_server_start(&job);
    return false;
}

static bool run(const char *mode, const char *text)
{
    bool done;

    free(result.output);
    result = (struct exec_result){0};
    set_text(input, text);
    set_text(output, "");
    done = run_with(mode, (const int[]){input, output}, &cancelled, &result);
    if (done && result.output)
        ck_assert_int_ge(sscanf(result.output, "%ld %ld %ld", &server, &did, &told), 2);
    return done;
}

/* What a copy allocates begins where a large page does. */
TEST(the_heap_of_a_copy_begins_with_a_large_page)
{
    for (int i = 0; i < 3; i++) {
        told = -1;
        run("memory", "");
        ck_assert(i == 0 || (told >= 0 && told < 8192));
    }
}

/* After as many jobs as it has 4 MiB of text. */
TEST(the_text_of_a_library_gets_pages_of_its_own)
{
    char mode[PATH_MAX + 32];

    snprintf(mode, sizeof mode, "text=%.*s/large_text.so", (int)(strrchr(program, '/') - program),
             program);
    ck_assert(!run(mode, ""));
    for (int i = 0; i < 4; i++) {
        ck_assert(run(mode, ""));
        ck_assert_int_eq(told, i < 2);
    }
}

/* The first job is done plainly. */
static void start_server(bool is_program)
{
    if (is_program)
        self_exec_set_program();
    run("copy", "");
    ck_assert(run("copy", ""));
}

static void expect_copied(const char *text)
{
    char got[64] = "";
    struct stat status;

    ck_assert_int_eq(result.end, EXEC_EXITED);
    ck_assert_int_eq(result.code, 0);
    ck_assert_uint_gt(result.peak, 4096);
    ck_assert_int_eq(fstat(output, &status), 0);
    ck_assert_int_eq(status.st_size, (off_t)strlen(text));
    ck_assert(descriptor_read(output, got, strlen(text), 0));
    ck_assert_str_eq(got, text);
}

static void expect_no_child(void)
{
    siginfo_t child;

    exec_reap_all();
    ck_assert_int_eq(waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT), -1);
    ck_assert_int_eq(errno, ECHILD);
}

/* As a library, and as a program; what is preloaded, and what serves itself. */
TEST_LOOP(one_process_does_all_jobs_but_the_first, 4)
{
    const char *mode = _i < 2 ? "copy" : "own";
    long first;

    if (_i % 2)
        self_exec_set_program();
    ck_assert(!run(mode, "one"));
    ck_assert(run(mode, "two"));
    expect_copied("two");
    ck_assert_int_ne(server, (long)getpid());
    if (_i % 2 == 0)
        expect_no_child();
    first = did;
    for (int i = 0; i < 20; i++) {
        long by = server;

        ck_assert(run(mode, i % 2 ? "" : "three"));
        expect_copied(i % 2 ? "" : "three");
        ck_assert_int_eq(server, by);
        ck_assert_int_ne(did, first);
    }
    fork_server_end_all();
    files_await_end(server);
    expect_no_child();
    ck_assert(run(mode, "four"));
    expect_copied("four");
}

/* A job that another thread waits for: it ends when its input does. */
struct long_job {
    pthread_t thread;
    int input[2], output; /* a pipe, and a file */
    volatile int cancelled;
    bool done, has_ended;
    struct exec_result result;
    long server;
};

static void *do_long_job(void *argument)
{
    struct long_job *job = argument;

    job->done =
        run_with("copy", (const int[]){job->input[0], job->output}, &job->cancelled, &job->result);
    __atomic_store_n(&job->has_ended, true, __ATOMIC_SEQ_CST);
    return NULL;
}

/* What it writes shows that it has begun. */
static void begin_long_job(struct long_job *job)
{
    static const char text[65536] = "";
    const struct timespec moment = {.tv_nsec = 1000000};
    struct stat status = {0};

    *job = (struct long_job){.output = descriptor_memory_file("output")};
    ck_assert_int_eq(pipe2(job->input, O_CLOEXEC), 0);
    ck_assert_int_eq(pthread_create(&job->thread, NULL, do_long_job, job), 0);
    ck_assert(descriptor_write(job->input[1], text, sizeof text));
    while (status.st_size == 0) {
        ck_assert(!__atomic_load_n(&job->has_ended, __ATOMIC_SEQ_CST));
        nanosleep(&moment, NULL);
        ck_assert_int_eq(fstat(job->output, &status), 0);
    }
}

/* Its input ends, or it is given up. */
static void end_long_job(struct long_job *job, bool is_given_up)
{
    if (is_given_up)
        __atomic_store_n(&job->cancelled, 1, __ATOMIC_SEQ_CST);
    else
        close(job->input[1]);
    ck_assert_int_eq(pthread_join(job->thread, NULL), 0);
    ck_assert(job->done);
    if (is_given_up)
        close(job->input[1]);
    close(job->input[0]);
    close(job->output);
    if (job->result.output)
        ck_assert_int_eq(sscanf(job->result.output, "%ld", &job->server), 1);
    free(job->result.output);
}

/* As a library, and as a program. */
TEST_LOOP(a_server_does_jobs_beside_each_other, 2)
{
    struct long_job job;

    start_server(_i == 1);
    begin_long_job(&job);
    ck_assert(run("copy", "beside"));
    expect_copied("beside");
    end_long_job(&job, false);
    ck_assert_int_eq(job.result.code, 0);
    ck_assert_int_eq(job.server, server);
    fork_server_end_all();
    files_await_end(server);
    expect_no_child();
}

/* A job that several threads begin at once. */
struct simultaneous {
    pthread_t thread;
    pthread_barrier_t *barrier;
    struct exec_result result;
    bool done;
};

static void *do_simultaneous(void *argument)
{
    struct simultaneous *job = argument;
    const int files[] = {descriptor_memory_file("input"), descriptor_memory_file("output")};

    pthread_barrier_wait(job->barrier);
    job->done = run_with("copy", files, &cancelled, &job->result);
    close(files[0]);
    close(files[1]);
    return NULL;
}

/* None of them starts the program. */
TEST_LOOP(one_start_is_enough_for_jobs_that_begin_at_once, 16)
{
    struct simultaneous jobs[4] = {0};
    pthread_barrier_t barrier;

    self_exec_set_program();
    is_repeated = true;
    ck_assert(run("copy", ""));
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, 4), 0);
    for (int i = 0; i < 4; i++) {
        jobs[i].barrier = &barrier;
        ck_assert_int_eq(pthread_create(&jobs[i].thread, NULL, do_simultaneous, &jobs[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(jobs[i].thread, NULL);
    for (int i = 0; i < 4; i++) {
        long by;

        ck_assert(jobs[i].done);
        ck_assert_int_eq(sscanf(jobs[i].result.output, "%ld", &by), 1);
        ck_assert_int_eq(by, server);
        free(jobs[i].result.output);
    }
    pthread_barrier_destroy(&barrier);
}

/* Else each would stay a zombie for as long as the server lives. */
TEST(a_server_reaps_copies_that_have_ended)
{
    long first;

    start_server(false);
    first = did;
    files_await_end(first);
    ck_assert(run("copy", "next"));
    ck_assert_int_eq(kill((pid_t)first, 0), -1);
    ck_assert_int_eq(errno, ESRCH);
}

TEST_LOOP(others_go_on_when_a_job_is_given_up, 2)
{
    struct long_job first, second;

    start_server(_i == 1);
    begin_long_job(&first);
    begin_long_job(&second);
    end_long_job(&first, true);
    ck_assert_int_eq(first.result.end, EXEC_CANCELLED);
    end_long_job(&second, false);
    ck_assert_int_eq(second.result.end, EXEC_EXITED);
    ck_assert_int_eq(second.result.code, 0);
    ck_assert(run("copy", "after"));
    expect_copied("after");
    ck_assert_int_eq(server, second.server);
}

/* The server is stopped, so that it sees the end of the copy only after the job. */
TEST_LOOP(a_copy_answers_before_it_ends, 2)
{
    struct long_job job;

    start_server(_i == 1);
    begin_long_job(&job);
    ck_assert_int_eq(kill((pid_t)server, SIGSTOP), 0);
    end_long_job(&job, false);
    ck_assert_int_eq(job.result.code, 0);
    ck_assert_uint_gt(job.result.peak, 4096);
    ck_assert_int_eq(kill((pid_t)server, SIGCONT), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert(run("copy", "next"));
        expect_copied("next");
        ck_assert_int_eq(server, job.server);
    }
    ck_assert(run("fail", "") || run("fail", ""));
    ck_assert_int_eq(result.code, 3);
}

TEST(repeated_jobs_have_a_server_from_the_first_one_on)
{
    is_repeated = true;
    ck_assert(run("copy", "first"));
    expect_copied("first");
}

TEST(a_failure_is_the_jobs_own)
{
    run("fail", "");
    ck_assert(run("fail", ""));
    ck_assert_int_eq(result.end, EXEC_EXITED);
    ck_assert_int_eq(result.code, 3);
    ck_assert(run("fail", ""));
}

/* What must be run plainly, the first time and ever after. */
TEST_LOOP(what_does_not_work_as_a_server_is_left_alone, 8)
{
    static const char *const modes[] = {"crash", "early", "threads", "elsewhere"};

    if (_i >= 4)
        self_exec_set_program();
    for (int i = 0; i < 4; i++)
        ck_assert(!run(modes[_i % 4], "x"));
    expect_no_child();
}

TEST(a_script_is_left_alone)
{
    strcpy(program, "/tmp/check_fork_server.XXXXXX");
    input = (close(input), mkstemp(program));
    ck_assert(descriptor_write(input, "#!/bin/cat\n", 11));
    ck_assert_int_eq(fchmod(input, 0755), 0);
    for (int i = 0; i < 3; i++) {
        const char *const argv[] = {program, fork_server_files[0], NULL};
        const struct fork_server_job job = {
            .run = {.argv = argv}, .files = &input, .file_count = 1, .is_preloaded = true};

        fork_server_start(&job);
        ck_assert(!fork_server_run(&job, &result));
    }
    unlink(program);
}

TEST(only_the_same_job_is_done_by_the_same_process)
{
    char folder[] = "/tmp/check_fork_server.XXXXXX";
    long by;

    start_server(false);
    by = server;
    setenv("CHECK_FORK_SERVER", "1", 1);
    ck_assert(!run("copy", ""));
    ck_assert(run("copy", ""));
    ck_assert_int_ne(server, by);
    unsetenv("CHECK_FORK_SERVER");
    ck_assert(run("copy", ""));
    ck_assert_int_eq(server, by);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert(!run("copy", ""));
    ck_assert_int_eq(chdir("/"), 0);
    rmdir(folder);
    strcat(word, "x");
    ck_assert(!run("copy", ""));
    setenv("LD_PRELOAD", "", 1);
    ck_assert(!run("copy", ""));
    ck_assert(!run("copy", ""));
}

/* What has started it once need not be repeated to use it. */
TEST_LOOP(a_server_that_was_started_does_the_first_job, 2)
{
    if (_i)
        self_exec_set_program();
    is_repeated = true;
    run_with("copy", NULL, NULL, NULL);
    run_with("copy", NULL, NULL, NULL);
    is_repeated = false;
    ck_assert(run("copy", "first"));
    expect_copied("first");
    ck_assert_int_ne(server, (long)getpid());
}

/* In vain: it is not used again. */
TEST_LOOP(a_server_that_was_started_and_fails_is_left_alone, 4)
{
    static const char *const modes[] = {"crash", "early", "threads", "elsewhere"};

    self_exec_set_program();
    is_repeated = true;
    run_with(modes[_i], NULL, NULL, NULL);
    for (int i = 0; i < 3; i++)
        ck_assert(!run(modes[_i], "x"));
    expect_no_child();
}

/* Whose result is not wanted any more, or comes too late. */
TEST_LOOP(a_job_that_is_given_up_leaves_nothing, 3)
{
    bool is_late = _i == 2;

    if (_i == 1)
        self_exec_set_program();
    run("hang", "");
    timeout = is_late ? 1 : 0;
    cancelled = !is_late;
    ck_assert(run("hang", ""));
    ck_assert_int_eq(result.end, is_late ? EXEC_TIMED_OUT : EXEC_CANCELLED);
    ck_assert_int_eq(result.code, is_late ? 1 : 0);
    if (is_late)
        files_await_end(did);
    fork_server_end_all();
    expect_no_child();
}

/* The youngest child of a process. */
static long last_child(long pid)
{
    char path[64];
    FILE *file;
    long child = 0;

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", pid, pid);
    file = fopen(path, "re");
    while (file && fscanf(file, "%ld", &child) == 1)
        ;
    if (file)
        fclose(file);
    return child;
}

/* A job that is given up ends, though another process was forked while it was done. */
TEST(a_fork_of_the_process_keeps_no_job)
{
    struct long_job job;
    pid_t child;
    long copy;

    start_server(false);
    begin_long_job(&job);
    copy = last_child(server);
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    end_long_job(&job, true);
    ck_assert_int_eq(job.result.end, EXEC_CANCELLED);
    files_await_end(copy);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

/* It has none of its parent's descriptors, and one of its own. */
TEST(a_copy_of_the_process_has_servers_of_its_own)
{
    long by;
    int status;
    pid_t child;

    start_server(false);
    by = server;
    child = fork();
    if (child == 0) {
        int open = files_count_open();
        bool ok = run("copy", "child") && server != by && files_count_open() == open + 1;

        fork_server_end_all();
        _exit(ok ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert(run("copy", "parent"));
    expect_copied("parent");
    ck_assert_int_eq(server, by);
}

/* One that waited for too long, or was killed. */
TEST(a_server_that_has_ended_is_replaced)
{
    start_server(false);
    ck_assert_int_eq(kill((pid_t)server, SIGKILL), 0);
    files_await_end(server);
    ck_assert(run("copy", "again"));
    expect_copied("again");
}

/* The first job of one that was started ahead came too late: that says nothing about the program.
 */
TEST(a_server_that_waited_too_long_for_its_first_job_is_replaced)
{
    siginfo_t ended;

    self_exec_set_program();
    fork_server_patience = 1;
    is_repeated = true;
    run_with("copy", NULL, NULL, NULL);
    ck_assert_int_eq(waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
    fork_server_patience = 600000;
    ck_assert(run("copy", "again"));
    expect_copied("again");
}
