/* check_pool.c: the order of tasks, and the life of the threads that run them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "diag/events.h"
#include "messages.h"
#include "pool/child_tokens.h"
#include "pool/dispatch.h"
#include "pool/pool.h"
#include "suite.h"

/* The Makefile puts these in the place of the C library's functions (-Wl,--wrap). */
#define WRAPPED(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

WRAPPED(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes,
        void *(*start)(void *), void *argument);
WRAPPED(int, pthread_join, pthread_t thread, void **result);
WRAPPED(void *, malloc, size_t size);
WRAPPED(void *, calloc, size_t count, size_t size);
WRAPPED(void *, realloc, void *block, size_t size);
WRAPPED(void, free, void *block);
WRAPPED(int, eventfd, unsigned count, int flags);

/* How many threads may still be made; negative = any number. The tests that need none to fail leave
 * it alone. */
static int threads_left = -1;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    if (threads_left == 0)
        return EAGAIN;
    if (threads_left > 0)
        threads_left--;
    return __real_pthread_create(thread, attributes, start, argument);
}

/* How many things of those below are made before one cannot be; negative = all can. And how many
 * there are more than when it was 0. */
static atomic_int makeable = -1, existing;

static bool may_make(void)
{
    bool may = makeable-- != 0;

    existing += may;
    return may;
}

void *__wrap_malloc(size_t size)
{
    return may_make() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return may_make() ? __real_calloc(count, size) : NULL;
}

void __wrap_free(void *block)
{
    existing -= block != NULL;
    __real_free(block);
}

void *__wrap_realloc(void *block, size_t size)
{
    existing -= block != NULL;
    return may_make() ? __real_realloc(block, size) : NULL;
}

int __wrap_eventfd(unsigned count, int flags)
{
    if (!may_make())
        return -1;
    existing--; /* open files are counted by the test */
    return __real_eventfd(count, flags);
}

/* Where tasks wait until it is opened, or until some number of them is there. */
static struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int inside, outside; /* how many have come to it, and have gone through */
    bool is_open;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false};

static void close_gate(void)
{
    gate.inside = gate.outside = 0;
    gate.is_open = false;
}

static void open_gate(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.is_open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
}

static void wait_at_gate_until(int count)
{
    pthread_mutex_lock(&gate.mutex);
    gate.is_open |= ++gate.inside == count;
    pthread_cond_broadcast(&gate.changed);
    while (!gate.is_open)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    gate.outside++;
    pthread_mutex_unlock(&gate.mutex);
}

static void wait_at_gate(void *argument)
{
    (void)argument;
    wait_at_gate_until(0);
}

static char order[64];
static atomic_size_t order_count;

static void append(void *argument)
{
    order[atomic_fetch_add(&order_count, 1)] = *(const char *)argument;
}

static atomic_int done;

static void count_one(void *argument)
{
    (void)argument;
    atomic_fetch_add(&done, 1);
}

static struct pool_task three[] = {
    {count_one, NULL, 0}, {count_one, NULL, 0}, {count_one, NULL, 0}};

static uint32_t run_tasks(struct pool_task *tasks, size_t count, uint32_t threads)
{
    return dispatch_run(&(struct dispatch_request){
        .tasks = tasks, .count = count, .threads = threads, .jobserver = JOBSERVER_OFF});
}

static void append_last(void *argument)
{
    append(argument);
    open_gate();
}

/* One of two threads waits until the other has run all others. */
TEST(tasks_start_by_priority_and_then_in_order_of_the_list)
{
    char letters[] = "ecafdgb";
    struct pool_task tasks[] = {{append, &letters[0], 1},         {append, &letters[1], 5},
                                {wait_at_gate, NULL, UINT32_MAX}, {append, &letters[2], UINT32_MAX},
                                {append, &letters[3], 1},         {append, &letters[4], 5},
                                {append_last, &letters[5], 0},    {append, &letters[6], 9}};

    close_gate();
    ck_assert_uint_eq(run_tasks(tasks, COUNT(tasks), 2), 2);
    ck_assert_str_eq(order, "abcdefg");
}

/* One thread runs them in the order of the list. */
TEST(one_thread_is_the_callers)
{
    char letters[] = "abc";
    struct pool_task tasks[] = {
        {append, &letters[0], 1}, {append, &letters[1], 5}, {append, &letters[2], 0}};

    threads_left = 0;
    ck_assert_uint_eq(run_tasks(tasks, 3, 1), 1);
    threads_left = -1;
    ck_assert_str_eq(order, "abc");
}

static atomic_int joined;

int __wrap_pthread_join(pthread_t thread, void **result)
{
    atomic_fetch_add(&joined, 1);
    return __real_pthread_join(thread, result);
}

TEST(all_have_ended_when_it_returns_and_it_may_be_repeated)
{
    struct pool_task tasks[50];

    for (int i = 0; i < 50; i++)
        tasks[i] = (struct pool_task){count_one, NULL, (uint32_t)i};
    for (int round = 1; round <= 20; round++) {
        ck_assert_uint_eq(run_tasks(tasks, 50, 4), 4);
        ck_assert_int_eq(done, round * 50);
        ck_assert_int_eq(joined, round * 4);
    }
}

static void meet(void *count)
{
    wait_at_gate_until(*(const int *)count);
}

/* They would wait for each other for ever. */
TEST(as_many_run_at_once_as_there_are_threads)
{
    int threads = 3;
    struct pool_task tasks[] = {{meet, &threads, 0}, {meet, &threads, 0}, {meet, &threads, 0}};

    close_gate();
    ck_assert_uint_eq(run_tasks(tasks, 3, 3), 3);
    ck_assert_int_eq(gate.outside, 3);
}

static int count_files(void)
{
    int count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* A jobserver with two tokens, as a recipe of make has it. */
static void open_jobserver(int fds[2])
{
    char flags[64];

    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(write(fds[1], "ab", 2), 2);
    snprintf(flags, sizeof flags, " -j3 --jobserver-auth=%d,%d", fds[0], fds[1]);
    setenv("MAKEFLAGS", flags, 1);
}

/* What cannot be made for the tasks under a jobserver is done without. */
TEST_RANGE(tasks_are_run_whatever_cannot_be_made_for_them, 1, 3)
{
    struct dispatch_request request = {.tasks = three,
                                       .count = 3,
                                       .threads = 8,
                                       .child_threads = (uint32_t)_i,
                                       .jobserver = JOBSERVER_AUTO};
    int fds[2], files, left, spare, most = 0;
    char tokens[4] = "";

    open_jobserver(fds);
    files = count_files();
    do {
        messages_catch();
        done = existing = 0;
        makeable = most;
        dispatch_run(&request);
        diag_sink_free(&messages);
        spare = makeable;
        makeable = -1;
        left = existing;
        ck_assert_int_eq(done, 3);
        ck_assert_int_eq(left, 0);
        ck_assert_int_eq(count_files(), files);
        ck_assert_int_lt(++most, 60);
    } while (spare < 0);
    ck_assert_int_eq(read(fds[0], tokens, 3), 2);
}

static void look_for_tokens(void *has_tokens)
{
    *(bool *)has_tokens = child_tokens_get() != NULL;
}

/* A program with one thread needs none: it works on the task's own token. */
TEST_RANGE(a_task_has_tokens_for_a_program_with_threads, 1, 4)
{
    bool has_tokens = _i == 1;
    struct pool_task task = {look_for_tokens, &has_tokens, 0};
    int fds[2];

    open_jobserver(fds);
    dispatch_run(&(struct dispatch_request){.tasks = &task,
                                            .count = 1,
                                            .threads = 1,
                                            .child_threads = (uint32_t)_i,
                                            .jobserver = JOBSERVER_AUTO});
    ck_assert_int_eq(has_tokens, _i > 1);
}

/* With each task that begins, and each that has ended; none is held at the end. */
TEST(tokens_are_counted_as_tasks_come_and_go)
{
    const struct dispatch_request request = {
        .tasks = three, .count = 3, .threads = 8, .jobserver = JOBSERVER_AUTO};
    struct event_log *log = events_open();
    struct events events;
    struct arena arena = {0};
    size_t count = 0;
    bool is_none_held = false;
    int fds[2];

    open_jobserver(fds);
    ck_assert_uint_eq(dispatch_run(&request), 3);
    unsetenv("MAKEFLAGS");
    events_read(log, &arena, &events);
    for (size_t i = 0; i < events.count; i++) {
        bool is_counted = text_equal(events.list[i].event.name, TEXT("tokens"));

        count += is_counted;
        is_none_held |= is_counted && events.list[i].event.bytes == 0;
    }
    ck_assert(is_none_held);
    ck_assert_uint_eq(count, 2 * 3);
    events_close(log);
    arena_free(&arena);
}

/* Of three threads for three tasks, that many can be made. */
TEST_LOOP(threads_that_are_missing_are_warned_of_and_the_work_is_done, 3)
{
    static const struct {
        int made;
        uint32_t used;
        const char *said;
    } rows[] = {{0, 1, "Unable to create thread pool: none of 3 threads could be started"},
                {2, 2, "Only 2 of 3 threads could be started"},
                {3, 3, NULL}};
    const struct dispatch_request request = {
        .tasks = three, .count = 3, .threads = 8, .jobserver = JOBSERVER_OFF};

    messages_catch();
    threads_left = rows[_i].made;
    ck_assert_uint_eq(dispatch_run(&request), rows[_i].used);
    threads_left = -1;
    ck_assert_int_eq(done, 3);
    if (rows[_i].said)
        messages_expect_part(rows[_i].said);
    else
        messages_expect("");
}

TEST(one_job_under_make_is_one_thread)
{
    const struct dispatch_request request = {
        .tasks = three, .count = 2, .threads = 8, .jobserver = JOBSERVER_AUTO};

    setenv("MAKEFLAGS", " -j1", 1);
    ck_assert_uint_eq(dispatch_run(&request), 1);
    unsetenv("MAKEFLAGS");
    ck_assert_uint_eq(dispatch_run(&request), 2);
    ck_assert_int_eq(done, 4);
}

static void note_thread(void *argument)
{
    char *name = argument;
    sigset_t blocked;

    pthread_getname_np(pthread_self(), name, 16);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    name[16] = (char)(sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGTERM));
}

TEST(threads_are_named_and_take_no_signals)
{
    char names[2][17] = {"", ""};
    struct pool_task tasks[] = {{note_thread, names[0], 0}, {note_thread, names[1], 0}};
    sigset_t blocked;

    threads_left = 1; /* which runs both */
    messages_catch();
    ck_assert_uint_eq(run_tasks(tasks, 2, 2), 1);
    threads_left = -1;
    diag_sink_free(&messages);
    for (int i = 0; i < 2; i++) {
        ck_assert_str_eq(names[i], "minilink-1");
        ck_assert_int_eq(names[i][16], 1);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    ck_assert_int_eq(sigismember(&blocked, SIGINT), 0);
}

TEST(there_is_a_processor)
{
    ck_assert_uint_ge(pool_cpu_count(), 1);
}

static void run_tasks_within(void *argument)
{
    struct pool_task tasks[20];

    for (int i = 0; i < 20; i++)
        tasks[i] = (struct pool_task){count_one, argument, 0};
    ck_assert_uint_eq(run_tasks(tasks, 20, 3), 3);
}

TEST(a_task_may_have_threads_of_its_own)
{
    struct pool_task tasks[10];

    for (int i = 0; i < 10; i++)
        tasks[i] = (struct pool_task){run_tasks_within, NULL, 0};
    ck_assert_uint_eq(run_tasks(tasks, 10, 4), 4);
    ck_assert_int_eq(done, 200);
}
