/* dispatch.c: a pool, and where there is a jobserver a loop that waits for two things at once: a
 * token to start a task with, and the end of a task. */
#include "pool/dispatch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/events.h"
#include "pool/pool.h"

/* What a worker runs when tokens are counted. */
struct counted_task {
    const struct dispatch_task *task;
    int ended_fd; /* eventfd that is added to when the task has ended */
};

/* The order in which tasks are started. */
static int compare(const struct dispatch_task *first, const struct dispatch_task *second)
{
    if (first->priority != second->priority)
        return first->priority > second->priority ? -1 : 1;
    return (first > second) - (first < second);
}

static int compare_pointers(const void *a, const void *b)
{
    return compare(*(const struct dispatch_task *const *)a,
                   *(const struct dispatch_task *const *)b);
}

static void run_here(const struct dispatch_request *request)
{
    for (size_t i = 0; i < request->count; i++)
        request->tasks[i].run(request->tasks[i].argument);
}

/* The pool has an order, but workers take what is there: the costliest must be there first. Without
 * memory for that, they begin with what comes. */
static void run_on_pool(const struct dispatch_request *request, struct pool *pool)
{
    const struct dispatch_task **order = malloc(request->count * sizeof *order);

    for (size_t i = 0; order && i < request->count; i++)
        order[i] = &request->tasks[i];
    if (order)
        qsort(order, request->count, sizeof *order, compare_pointers);
    for (size_t i = 0; i < request->count; i++) {
        const struct dispatch_task *task = order ? order[i] : &request->tasks[i];

        if (!pool_submit(pool, task->run, task->argument, task->priority))
            task->run(task->argument);
    }
    free(order);
    pool_wait(pool);
}

/* A write to an eventfd that is open can only be interrupted: its counter would have to overflow. A
 * coordinator that waits for it in vain would hang, so that an impossible failure ends the program.
 */
static void run_counted(void *argument)
{
    const struct counted_task *counted = argument;
    const uint64_t one = 1;
    ssize_t written;

    counted->task->run(counted->task->argument);
    do
        written = write(counted->ended_fd, &one, sizeof one);
    while (written < 0 && errno == EINTR);
    if (written < 0)
        abort();
}

/* Waits until at least one task has ended and returns how many have since the last time. */
static uint64_t wait_ended(int ended_fd)
{
    uint64_t count = 0;
    ssize_t got;

    do
        got = read(ended_fd, &count, sizeof count);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof count ? count : 1;
}

static int compare_counted(const void *a, const void *b)
{
    return compare(((const struct counted_task *)a)->task, ((const struct counted_task *)b)->task);
}

/* Starts tasks as tokens come, and gives tokens back as tasks end. There is always a way on: with
 * nothing running, the implicit token is free. */
static void run_with_tokens(const struct dispatch_request *request, struct pool *pool,
                            struct jobserver *jobserver, struct counted_task *counted)
{
    size_t threads = pool_thread_count(pool), next = 0, running = 0;
    int ended_fd = counted->ended_fd;

    while (next < request->count || running > 0) {
        struct counted_task *task = &counted[next];

        if (next < request->count && request->is_cancelled &&
            request->is_cancelled(task->task->argument)) {
            task->task->run(task->task->argument);
            next++;
        } else if (next < request->count && running < threads &&
                   jobserver_acquire(jobserver, ended_fd) == JOBSERVER_ACQUIRED) {
            if (!pool_submit(pool, run_counted, task, task->task->priority))
                run_counted(task);
            next++;
            events_count("tokens", ++running);
        } else {
            for (uint64_t ended = wait_ended(ended_fd); ended > 0; ended--) {
                jobserver_release(jobserver);
                events_count("tokens", --running);
            }
        }
    }
    pool_wait(pool);
}

/* The pool under a jobserver. False when what it needs could not be made: nothing was run then. */
static bool run_as_client(const struct dispatch_request *request, struct pool *pool,
                          struct jobserver *jobserver)
{
    struct counted_task *counted = calloc(request->count, sizeof *counted);
    int ended_fd = counted ? eventfd(0, EFD_CLOEXEC) : -1;

    if (ended_fd >= 0) {
        for (size_t i = 0; i < request->count; i++)
            counted[i] = (struct counted_task){&request->tasks[i], ended_fd};
        qsort(counted, request->count, sizeof *counted, compare_counted);
        run_with_tokens(request, pool, jobserver, counted);
        close(ended_fd);
    }
    free(counted);
    return ended_fd >= 0;
}

static uint32_t wanted_threads(const struct dispatch_request *request)
{
    uint32_t threads = request->threads < JOBSERVER_MOST ? request->threads : JOBSERVER_MOST;

    return threads < request->count ? threads : (uint32_t)request->count;
}

/* The work is done all the same, but slower than was asked for. */
static void report_lost(uint32_t wanted, size_t started)
{
    if (started == 0)
        diag_caution("Unable to create thread pool: none of %u threads could be started, and one "
                     "does all the work",
                     wanted);
    else if (started < wanted)
        diag_caution("Only %zu of %u threads could be started", started, wanted);
}

uint32_t dispatch_run(const struct dispatch_request *request)
{
    uint32_t threads = wanted_threads(request);
    struct jobserver *jobserver = NULL;
    enum jobserver_state state;
    struct pool *pool = NULL;
    bool has_run = false;

    if (threads > 1)
        jobserver = jobserver_join(request->jobserver, &threads);
    if (threads > 1)
        pool = pool_create(threads, request->stack_bytes);
    if (threads > 1)
        report_lost(threads, pool ? pool_thread_count(pool) : 0);
    if (pool)
        threads = (uint32_t)pool_thread_count(pool);
    if (pool && jobserver)
        has_run = run_as_client(request, pool, jobserver);
    if (pool && !jobserver) {
        run_on_pool(request, pool);
        has_run = true;
    }
    pool_destroy(pool);
    state = jobserver_close(jobserver);
    jobserver_report_end(request->jobserver, state);
    if (!has_run)
        run_here(request);
    return has_run ? threads : 1;
}
