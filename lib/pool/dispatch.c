/* dispatch.c: runs tasks on a pool. With a jobserver, a loop waits for two things at once: a token
 * to start a task with, and the end of a task. */
#include "pool/dispatch.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/search.h"
#include "diag/diag.h"
#include "diag/events.h"
#include "os/file.h"
#include "pool/internal.h"

/* A task as run by a worker when tokens are counted. */
struct counted_task {
    const struct pool_task *task;
    struct pool_task counted; /* which runs it */
    struct coordinator *coordinator;
    struct child_tokens child; /* open while the task runs, if its child has threads */
    _Atomic bool has_ended;
};

/* The calling thread's state of the tasks that it hands out. */
struct coordinator {
    const struct dispatch_request *request;
    struct pool *pool;
    struct jobserver *jobserver;
    struct counted_task *tasks; /* in the order in which they start */
    size_t next;                /* the next one to start */
    struct counted_task **live; /* running, or ended but not noticed yet */
    size_t running;
    int ended_fd; /* eventfd; incremented when a task has ended */
};

static void run_here(const struct dispatch_request *request)
{
    for (size_t i = 0; i < request->count; i++)
        request->tasks[i].run(request->tasks[i].argument);
}

/* Runs the tasks under make with the calling thread's token only: children may have one thread. */
static void run_alone(const struct dispatch_request *request)
{
    const struct child_tokens *before;
    struct child_tokens none;

    child_tokens_open(&none);
    before = child_tokens_set(&none);
    run_here(request);
    child_tokens_set(before);
    child_tokens_close(&none);
}

/* A write to an open eventfd can only be interrupted; it would fail only on overflow of its
 * counter. The coordinator would then wait forever, so such a failure aborts the program. */
static void run_counted(void *argument)
{
    struct counted_task *counted = argument;
    const struct child_tokens *before = child_tokens_get();
    const uint64_t one = 1;

    if (counted->coordinator->request->child_threads > 1)
        child_tokens_set(&counted->child);
    counted->task->run(counted->task->argument);
    child_tokens_set(before);
    atomic_store(&counted->has_ended, true);
    if (!descriptor_write(counted->coordinator->ended_fd, &one, sizeof one))
        abort();
}

/* The order of the pool's queue, which here gets one task at a time, as tokens arrive. */
COMPARISON(compare_priorities, struct counted_task,
           COMPARE(b->task->priority, a->task->priority) ?: COMPARE(a->task, b->task));

static void start(struct coordinator *coordinator)
{
    struct counted_task *task = &coordinator->tasks[coordinator->next++];

    if (coordinator->request->child_threads > 1)
        child_tokens_open(&task->child);
    coordinator->live[coordinator->running++] = task;
    events_count("tokens", coordinator->running);
    task->counted = (struct pool_task){.run = run_counted, .argument = task};
    if (!pool_submit(coordinator->pool, &task->counted, 1))
        run_counted(task);
}

/* Returns the tokens of all ended tasks, including those for threads of their children, whether or
 * not the children returned them. */
static void end_tasks(struct coordinator *coordinator)
{
    for (size_t i = coordinator->running; i-- > 0;) {
        struct counted_task *task = coordinator->live[i];

        if (!atomic_load(&task->has_ended))
            continue;
        for (size_t held = task->child.given + 1; held > 0; held--)
            jobserver_release(coordinator->jobserver);
        child_tokens_close(&task->child);
        coordinator->live[i] = coordinator->live[--coordinator->running];
        events_count("tokens", coordinator->running);
    }
}

/* The child that gets the next token: one with the fewest; NULL = each has one for each thread. */
static struct child_tokens *neediest(const struct coordinator *coordinator)
{
    size_t least = coordinator->request->child_threads - 1;
    struct child_tokens *found = NULL;

    for (size_t i = 0; i < coordinator->running; i++) {
        struct child_tokens *child = &coordinator->live[i]->child;

        if (child->given < least && !child->error) {
            least = child->given;
            found = child;
        }
    }
    return found;
}

/* Starts tasks as tokens arrive, and returns tokens as tasks end. Tokens that cannot start a task
 * go to the threads of running children. When nothing runs, the implicit token is free. */
static void run_with_tokens(struct coordinator *coordinator)
{
    const struct dispatch_request *request = coordinator->request;
    size_t threads = pool_thread_count(coordinator->pool);

    while (coordinator->next < request->count || coordinator->running > 0) {
        const struct pool_task *task = coordinator->tasks[coordinator->next].task;
        bool is_left = coordinator->next < request->count, is_startable;
        struct child_tokens *child;
        uint64_t ended;

        if (is_left && request->is_cancelled && request->is_cancelled(task->argument)) {
            task->run(task->argument);
            coordinator->next++;
            continue;
        }
        is_startable = is_left && coordinator->running < threads;
        child = is_startable || request->child_threads < 2 ? NULL : neediest(coordinator);
        if ((is_startable || child) &&
            jobserver_acquire(coordinator->jobserver, coordinator->ended_fd)) {
            if (!child)
                start(coordinator);
            else if (!child_tokens_give(child))
                jobserver_release(coordinator->jobserver);
        } else {
            /* Until at least one task has ended since the last time. */
            while (read(coordinator->ended_fd, &ended, sizeof ended) < 0 && errno == EINTR)
                continue;
            end_tasks(coordinator);
        }
    }
    pool_wait(coordinator->pool);
}

/* Runs the tasks on the pool under a jobserver. False, with nothing run, without resources. */
static bool run_as_client(const struct dispatch_request *request, struct pool *pool,
                          struct jobserver *jobserver)
{
    /* One extra element: it is read, but not used, after the last task has started. */
    struct counted_task *tasks = calloc(request->count + 1, sizeof *tasks);
    struct counted_task **live = calloc(pool_thread_count(pool), sizeof(struct counted_task *));
    struct coordinator coordinator = {.request = request,
                                      .pool = pool,
                                      .jobserver = jobserver,
                                      .tasks = tasks,
                                      .live = live,
                                      .ended_fd = -1};

    if (tasks && live)
        coordinator.ended_fd = eventfd(0, EFD_CLOEXEC);
    if (coordinator.ended_fd >= 0) {
        for (size_t i = 0; i < request->count; i++)
            tasks[i] = (struct counted_task){
                .task = &request->tasks[i], .coordinator = &coordinator, .child.fds = {-1, -1}};
        SORT(tasks, request->count, compare_priorities);
        run_with_tokens(&coordinator);
        close(coordinator.ended_fd);
    }
    free(live);
    free(tasks);
    return coordinator.ended_fd >= 0;
}

/* A caution: the work is done, but slower than requested. */
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
    uint32_t wanted = request->threads < JOBSERVER_MOST ? request->threads : JOBSERVER_MOST;
    uint32_t threads = wanted < request->count ? wanted : (uint32_t)request->count;
    uint32_t most = UINT32_MAX; /* 1: make allows the link one job, and there is no token */
    struct jobserver *jobserver = NULL;
    struct pool *pool = NULL;
    bool has_run = false;

    if (threads > 1 || request->child_threads > 1)
        jobserver = jobserver_join(request->jobserver, &most);
    if (most == 1)
        threads = 1;
    if (threads > 1 || jobserver) {
        pool = pool_create(threads);
        report_lost(threads, pool ? pool_thread_count(pool) : 0);
    }
    if (pool)
        threads = (uint32_t)pool_thread_count(pool);
    if (pool && jobserver) {
        has_run = run_as_client(request, pool, jobserver);
    } else if (pool) {
        for (size_t i = pool_submit(pool, request->tasks, request->count); i < request->count; i++)
            request->tasks[i].run(request->tasks[i].argument);
        pool_wait(pool);
        has_run = true;
    }
    pool_destroy(pool);
    jobserver_close(jobserver);
    if (!has_run && request->child_threads > 1 && (most == 1 || jobserver))
        run_alone(request);
    else if (!has_run)
        run_here(request);
    return has_run ? threads : 1;
}

/* One task for each part of a loop, since the items are many and similar. */
struct part {
    void (*run)(void *argument, size_t part, size_t first, size_t last);
    void *argument;
    size_t number;
    size_t first;
    size_t last;
    const struct diag_state *parent;
    struct diag_sink said;
    enum link_code code;
};

size_t parallel_parts(const struct parallel_limits *limits, size_t count, size_t least)
{
    size_t parts = limits->threads < PARALLEL_MOST_PARTS ? limits->threads : PARALLEL_MOST_PARTS;

    if (least > 0 && parts > count / least)
        parts = count / least;
    return parts ? parts : 1;
}

static enum link_code run_items(void *argument)
{
    struct part *part = argument;

    part->run(part->argument, part->number, part->first, part->last);
    return LINK_OK;
}

static void run_loop_part(void *argument)
{
    struct part *part = argument;

    part->code = diag_collect(run_items, part, part->parent, &part->said);
}

/* Reports the parts' messages, up to the first part that failed, and frees all of them. */
static enum link_code collect(struct part *parts, size_t count)
{
    enum link_code code = LINK_OK;

    for (size_t i = 0; i < count; i++) {
        if (code == LINK_OK) {
            diag_replay(&parts[i].said);
            code = parts[i].code;
        }
        diag_sink_free(&parts[i].said);
    }
    return code;
}

void parallel_for(const struct parallel_limits *limits, size_t count, size_t least,
                  void (*run)(void *argument, size_t part, size_t first, size_t last),
                  void *argument)
{
    struct part parts[PARALLEL_MOST_PARTS];
    struct pool_task tasks[PARALLEL_MOST_PARTS];
    size_t part_count = parallel_parts(limits, count, least);
    struct dispatch_request request = {
        .tasks = tasks,
        .count = part_count,
        .threads = (uint32_t)part_count,
        .jobserver = limits->jobserver,
    };
    enum link_code code;

    if (part_count == 1) {
        run(argument, 0, 0, count);
        return;
    }
    for (size_t i = 0; i < part_count; i++) {
        parts[i] = (struct part){
            .run = run,
            .argument = argument,
            .number = i,
            .first = count * i / part_count,
            .last = count * (i + 1) / part_count,
            .parent = diag_state_get(),
        };
        tasks[i] = (struct pool_task){.run = run_loop_part, .argument = &parts[i]};
    }
    dispatch_run(&request);
    code = collect(parts, part_count);
    if (code != LINK_OK)
        context_raise(code);
}
