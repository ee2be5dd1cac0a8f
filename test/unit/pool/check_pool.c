/* check_pool.c: the queue's order, and the life of a pool. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "diag/events.h"
#include "messages.h"
#include "pool/jobserver.h"
#include "pool/dispatch.h"
#include "pool/internal.h"
#include "suite.h"

/* The Makefile puts these in the place of the C library's functions (-Wl,--wrap). */
#define WRAPPED(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

WRAPPED(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes,
        void *(*start)(void *), void *argument);
WRAPPED(int, pthread_cond_broadcast, pthread_cond_t *condition);
WRAPPED(int, pthread_cond_wait, pthread_cond_t *condition, pthread_mutex_t *mutex);
WRAPPED(int, pthread_join, pthread_t thread, void **result);
WRAPPED(int, pthread_cond_signal, pthread_cond_t *condition);
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

int __wrap_eventfd(unsigned count, int flags)
{
    if (!may_make())
        return -1;
    existing--; /* open files are counted by the test */
    return __real_eventfd(count, flags);
}

static bool has_no_room = false;

void *__wrap_realloc(void *block, size_t size)
{
    if (has_no_room)
        return NULL;
    existing -= block != NULL;
    return may_make() ? __real_realloc(block, size) : NULL;
}

static int smaller_first(const void *a, const void *b)
{
    return *(const int *)a < *(const int *)b;
}

TEST(queue_gives_out_in_order_whatever_the_order_of_pushes)
{
    enum { COUNT = 1000 };
    static int values[COUNT];
    struct pqueue queue = {.comparator = smaller_first};
    unsigned seed = 1;

    for (int i = 0; i < COUNT; i++) {
        seed = seed * 1103515245u + 12345u;
        values[i] = (int)(seed >> 16 & 0x3ff);
        ck_assert(pqueue_push(&queue, &values[i]));
    }
    ck_assert_uint_eq(queue.count, COUNT);
    for (int i = 0, last = -1; i < COUNT; i++) {
        int value = *(int *)pqueue_pop(&queue);

        ck_assert_int_ge(value, last);
        last = value;
    }
    ck_assert_ptr_null(pqueue_pop(&queue));
    pqueue_free(&queue);
}

TEST(queue_can_be_used_again_after_it_was_empty)
{
    int values[] = {2, 1};
    struct pqueue queue = {.comparator = smaller_first};

    ck_assert_ptr_null(pqueue_pop(&queue));
    for (int round = 0; round < 3; round++) {
        ck_assert(pqueue_push(&queue, &values[0]));
        ck_assert(pqueue_push(&queue, &values[1]));
        ck_assert_ptr_eq(pqueue_pop(&queue), &values[1]);
        ck_assert_ptr_eq(pqueue_pop(&queue), &values[0]);
        ck_assert_ptr_null(pqueue_pop(&queue));
    }
    pqueue_free(&queue);
}

/* A task that holds its worker until it is let go. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int inside, outside; /* how many have come to it, and have gone through */
    bool is_open;
};

static struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false};

static void close_gate(void)
{
    gate.inside = gate.outside = 0;
    gate.is_open = false;
}

static void wait_at_gate(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&gate.mutex);
    gate.inside++;
    pthread_cond_broadcast(&gate.changed);
    while (!gate.is_open)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    gate.outside++;
    pthread_mutex_unlock(&gate.mutex);
}

static void wait_for_inside(int count)
{
    pthread_mutex_lock(&gate.mutex);
    while (gate.inside < count)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
}

static void open_gate(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.is_open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
}

static char order[64];
static atomic_size_t order_count;

static void append(void *argument)
{
    order[atomic_fetch_add(&order_count, 1)] = *(const char *)argument;
}

static bool submit(struct pool *pool, void (*run)(void *), void *argument, uint32_t priority)
{
    static struct pool_task tasks[4096];
    static atomic_size_t count;
    struct pool_task *task = &tasks[atomic_fetch_add(&count, 1) % COUNT(tasks)];

    *task = (struct pool_task){.run = run, .argument = argument, .priority = priority};
    return pool_submit(pool, task, 1) == 1;
}

/* Submitted one by one while the worker is busy, or all at once to one that waits for them. */
TEST(tasks_leave_by_priority_and_then_in_order_of_submission)
{
    char letters[] = "ecafdgb";
    struct pool_task tasks[] = {{append, &letters[0], 1, 0},          {append, &letters[1], 5, 0},
                                {append, &letters[2], UINT32_MAX, 0}, {append, &letters[3], 1, 0},
                                {append, &letters[4], 5, 0},          {append, &letters[5], 0, 0},
                                {append, &letters[6], 9, 0}};
    const size_t count = sizeof tasks / sizeof tasks[0];
    struct pool *pool = pool_create(1);

    close_gate();
    ck_assert(submit(pool, wait_at_gate, NULL, UINT32_MAX));
    wait_for_inside(1);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(pool_submit(pool, &tasks[i], 1), 1);
    open_gate();
    pool_wait(pool);
    ck_assert_uint_eq(pool_submit(pool, tasks, count), count);
    pool_wait(pool);
    ck_assert_str_eq(order, "abcdefgabcdefg");
    pool_destroy(pool);
}

static atomic_int done;

void set_up(void)
{
    done = 0;
}

static void count_one(void *argument)
{
    (void)argument;
    atomic_fetch_add(&done, 1);
}

static struct pool_task three[] = {
    {count_one, NULL, 0, 0}, {count_one, NULL, 0, 0}, {count_one, NULL, 0, 0}};

TEST(wait_returns_when_all_have_ended_and_may_be_repeated)
{
    struct pool *pool = pool_create(4);
    pool_wait(pool);
    for (int round = 1; round <= 20; round++) {
        for (int i = 0; i < 50; i++)
            ck_assert(submit(pool, count_one, NULL, (uint32_t)i));
        pool_wait(pool);
        ck_assert_int_eq(done, round * 50);
    }
    pool_destroy(pool);
}

/* Whether the next broadcast, by which pool_destroy tells its workers to end, opens the gate. */
static bool broadcast_opens_gate;

static atomic_int signals, broadcasts, joined;

int __wrap_pthread_join(pthread_t thread, void **result)
{
    atomic_fetch_add(&joined, 1);
    return __real_pthread_join(thread, result);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    atomic_fetch_add(&signals, 1);
    return __real_pthread_cond_signal(condition);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (condition != &gate.changed)
        atomic_fetch_add(&broadcasts, 1);
    if (broadcast_opens_gate) {
        broadcast_opens_gate = false;
        open_gate();
    }
    return __real_pthread_cond_broadcast(condition);
}

/* Whether the owner's next wait, in pool_wait(), opens the gate. */
static bool wait_opens_gate;

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (gettid() == getpid() && wait_opens_gate) {
        wait_opens_gate = false;
        open_gate();
    }
    return __real_pthread_cond_wait(condition, mutex);
}

/* Nothing is queued any more, but something is run. */
TEST(wait_waits_for_what_runs)
{
    struct pool *pool = pool_create(2);

    close_gate();
    ck_assert(submit(pool, wait_at_gate, NULL, 0));
    wait_for_inside(1);
    wait_opens_gate = true;
    pool_wait(pool);
    ck_assert_int_eq(gate.outside, 1);
    pool_destroy(pool);
}

TEST(each_task_wakes_one_worker_and_the_last_one_wakes_the_owner)
{
    struct pool *pool = pool_create(2);
    struct pool_task tasks[] = {
        {wait_at_gate, NULL, 0, 0}, {wait_at_gate, NULL, 0, 0}, {wait_at_gate, NULL, 0, 0}};

    close_gate();
    ck_assert_uint_eq(pool_submit(pool, tasks, 3), 3);
    wait_for_inside(2);
    ck_assert_int_eq(signals, 3);
    open_gate();
    pool_wait(pool);
    ck_assert_int_eq(signals, 3 + 1);
    ck_assert_int_eq(broadcasts, 0);
    pool_destroy(pool);
    ck_assert_int_eq(signals, 3 + 1);
    ck_assert_int_eq(broadcasts, 1);
    ck_assert_int_eq(joined, 2);
}

TEST(no_function_is_no_task)
{
    struct pool *pool = pool_create(1);
    struct pool_task tasks[] = {
        {count_one, NULL, 1, 0}, {NULL, NULL, 1, 0}, {count_one, NULL, 1, 0}};

    ck_assert_uint_eq(pool_submit(pool, tasks, 3), 1);
    pool_wait(pool);
    ck_assert_int_eq(done, 1);
    pool_destroy(pool);
}

TEST(a_task_that_the_queue_has_no_room_for_is_not_taken)
{
    struct pool *pool = pool_create(1);
    int taken = 0;

    close_gate();
    ck_assert(submit(pool, wait_at_gate, NULL, 0));
    wait_for_inside(1);
    has_no_room = true;
    while (taken < 100000 && submit(pool, count_one, NULL, 0))
        taken++;
    has_no_room = false;
    ck_assert_int_lt(taken, 100000);
    open_gate();
    pool_wait(pool);
    ck_assert_int_eq(done, taken);
    pool_destroy(pool);
}

TEST(destroy_waits_for_running_tasks_and_drops_queued_ones)
{
    struct pool *pool = pool_create(2);
    close_gate();
    ck_assert(submit(pool, wait_at_gate, NULL, 1));
    ck_assert(submit(pool, wait_at_gate, NULL, 1));
    wait_for_inside(2);
    for (int i = 0; i < 100; i++)
        ck_assert(submit(pool, count_one, NULL, 0));
    ck_assert(!gate.is_open);
    broadcast_opens_gate = true;
    pool_destroy(pool);
    ck_assert(!broadcast_opens_gate);
    ck_assert_int_eq(gate.outside, 2);
    ck_assert_int_eq(done, 0);
}

TEST(destroy_of_an_unused_pool_and_of_none)
{
    for (int i = 0; i < 50; i++)
        pool_destroy(pool_create(3));
    pool_destroy(NULL);
}

TEST(with_fewer_threads_than_asked_it_goes_on)
{
    struct pool *pool;
    threads_left = 2;
    pool = pool_create(8);
    threads_left = -1;
    ck_assert_ptr_nonnull(pool);
    ck_assert_uint_eq(pool_thread_count(pool), 2);
    for (int i = 0; i < 100; i++)
        ck_assert(submit(pool, count_one, NULL, 0));
    pool_wait(pool);
    ck_assert_int_eq(done, 100);
    pool_destroy(pool);
}

/* Whatever could not be made. Check allocates, too, but not between
 * what is counted. */
TEST(a_pool_that_cannot_be_made_leaves_nothing)
{
    bool is_run = false;

    for (int most = 0; !is_run; most++) {
        struct pool *pool;
        int left;

        done = existing = 0;
        makeable = most;
        pool = pool_create(2);
        is_run = pool && submit(pool, count_one, NULL, 0);
        makeable = -1;
        if (pool)
            pool_wait(pool);
        pool_destroy(pool);
        left = existing;
        ck_assert_int_eq(left, 0);
        ck_assert_int_eq(done, is_run);
        ck_assert_int_lt(most, 20);
    }
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
    struct pool_task task = {look_for_tokens, &has_tokens, 0, 0};
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

TEST(without_any_thread_there_is_no_pool)
{
    threads_left = 0;
    ck_assert_ptr_null(pool_create(8));
    threads_left = -1;
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

TEST(workers_are_named_and_take_no_signals)
{
    struct pool *pool = pool_create(1);
    char name[17] = "";
    sigset_t blocked;

    ck_assert(submit(pool, note_thread, name, 0));
    pool_wait(pool);
    ck_assert_str_eq(name, "minilink-1");
    ck_assert_int_eq(name[16], 1);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    ck_assert_int_eq(sigismember(&blocked, SIGINT), 0);
    pool_destroy(pool);
}

TEST(zero_threads_means_one)
{
    struct pool *pool = pool_create(0);

    ck_assert_uint_eq(pool_thread_count(pool), 1);
    pool_destroy(pool);
    ck_assert_uint_ge(pool_cpu_count(), 1);
}

/* --- Pools within pools. --- */

static void own_a_pool(void *argument)
{
    struct pool *pool = pool_create(3);

    if (!pool)
        return;
    for (int i = 0; i < 20; i++)
        submit(pool, count_one, argument, 0);
    pool_wait(pool);
    pool_destroy(pool);
}

TEST(a_task_may_own_a_pool)
{
    struct pool *pool = pool_create(4);

    for (int i = 0; i < 10; i++)
        ck_assert(submit(pool, own_a_pool, NULL, 0));
    pool_wait(pool);
    pool_destroy(pool);
    ck_assert_int_eq(done, 200);
}
