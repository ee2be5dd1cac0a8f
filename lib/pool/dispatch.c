/* dispatch.c: threads that take tasks from a list. Without a jobserver all are in it from the
 * start; with one the calling thread appends them, and waits for two things at once: a token to
 * start a task with, and the end of a task. */
#include "pool/dispatch.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/search.h"
#include "diag/diag.h"
#include "diag/events.h"
#include "os/cleanup.h"
#include "os/descriptor.h"
#include "os/thread.h"
#include "pool/child_tokens.h"

/* A task, and what is known of it when tokens are counted. */
struct job {
    const struct pool_task *task;
    struct child_tokens child; /* open while the task runs, if its child has threads */
    _Atomic bool has_ended;
};

/* The threads of one call, and what they work on. */
struct crew {
    const struct dispatch_request *request;
    struct jobserver *jobserver; /* NULL = tokens are not counted */
    struct job *jobs;            /* in the order in which they start */
    struct job **list;           /* those that may start; then a NULL for each thread, its end */
    size_t listed;
    sem_t ready; /* what is in the list, and not taken */
    atomic_size_t taken;
    pthread_t *threads;
    size_t thread_count;
    atomic_uint numbered; /* threads that have taken a number */
    struct job **live;    /* running, or ended but not noticed yet: at most one for each thread */
    size_t running;
    int ended_fd; /* eventfd; incremented when a task has ended; -1 = none */
};

/* The order in which tasks start. */
COMPARISON(compare_jobs, struct job,
           COMPARE(b->task->priority, a->task->priority) ?: COMPARE(a->task, b->task));

/* A write to an open eventfd can only be interrupted; it would fail only on overflow of its
 * counter. The calling thread would then wait forever, so such a failure aborts the program. */
static void run_job(const struct crew *crew, struct job *job)
{
    const struct child_tokens *before = child_tokens_get();
    const uint64_t one = 1;

    if (crew->jobserver && crew->request->child_threads > 1)
        child_tokens_set(&job->child);
    job->task->run(job->task->argument);
    child_tokens_set(before);
    atomic_store(&job->has_ended, true);
    if (crew->jobserver && !descriptor_write(crew->ended_fd, &one, sizeof one))
        abort();
}

/* Waits for a job; NULL at the end of the list. */
static struct job *next_job(struct crew *crew)
{
    while (sem_wait(&crew->ready) != 0)
        continue; /* a signal came */
    return crew->list[atomic_fetch_add(&crew->taken, 1)];
}

/* Sets the name from within the thread: to name another thread, glibc opens a file without
 * O_CLOEXEC, which a child started at that moment would inherit. */
static void take_thread_name(unsigned number)
{
    char name[16]; /* Linux's limit */

    snprintf(name, sizeof name, "minilink-%u", number % 1000000);
    prctl(PR_SET_NAME, name);
}

static void *run_listed(void *argument)
{
    struct crew *crew = argument;
    void *stack = cleanup_stack_open();
    struct job *job;

    take_thread_name(atomic_fetch_add(&crew->numbered, 1) + 1);
    thread_use_c_locale(); /* a new thread has the program's locale, not its creator's */
    while ((job = next_job(crew)))
        run_job(crew, job);
    cleanup_stack_close(stack);
    return NULL;
}

/* Adds a job, or the end of a thread, to the list. */
static void put_job(struct crew *crew, struct job *job)
{
    crew->list[crew->listed++] = job;
    sem_post(&crew->ready);
}

/* Starts up to `threads` threads. All signals but those of a crash are handled in the link thread,
 * whose handlers may read its data. */
static void start_threads(struct crew *crew, size_t threads)
{
    static const int crashes[] = {CLEANUP_CRASHES};
    sigset_t all, before;

    sigfillset(&all);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigdelset(&all, crashes[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited by the threads */
    while (crew->thread_count < threads &&
           pthread_create(&crew->threads[crew->thread_count], NULL, run_listed, crew) == 0)
        crew->thread_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Without memory or descriptors, there are no threads. */
static void begin_crew(struct crew *crew, size_t threads)
{
    const struct dispatch_request *request = crew->request;

    sem_init(&crew->ready, 0, 0);
    crew->jobs = calloc(request->count, sizeof *crew->jobs);
    crew->list = calloc(request->count + 2 * threads, sizeof(struct job *));
    crew->threads = calloc(threads, sizeof *crew->threads);
    crew->ended_fd = crew->jobserver ? eventfd(0, EFD_CLOEXEC) : -1;
    if (!crew->jobs || !crew->list || !crew->threads || (crew->jobserver && crew->ended_fd < 0))
        return;
    crew->live = crew->list + request->count + threads;
    for (size_t i = 0; i < request->count; i++)
        crew->jobs[i] = (struct job){.task = &request->tasks[i], .child.fds = {-1, -1}};
    SORT(crew->jobs, request->count, compare_jobs);
    start_threads(crew, threads);
}

/* When all that is in the list has ended. */
static void end_crew(struct crew *crew)
{
    for (size_t i = 0; i < crew->thread_count; i++)
        put_job(crew, NULL);
    for (size_t i = 0; i < crew->thread_count; i++)
        pthread_join(crew->threads[i], NULL);
    if (crew->ended_fd >= 0)
        close(crew->ended_fd);
    sem_destroy(&crew->ready);
    free(crew->threads);
    free(crew->list);
    free(crew->jobs);
}

static void start_job(struct crew *crew, struct job *job)
{
    if (crew->request->child_threads > 1)
        child_tokens_open(&job->child);
    crew->live[crew->running++] = job;
    events_count("tokens", crew->running);
    put_job(crew, job);
}

/* Waits until at least one job has ended since the last time. Returns the tokens of all ended jobs,
 * including those for threads of their children, whether or not the children returned them. */
static void end_jobs(struct crew *crew)
{
    uint64_t ended;

    while (read(crew->ended_fd, &ended, sizeof ended) < 0 && errno == EINTR)
        continue;
    for (size_t i = crew->running; i-- > 0;) {
        struct job *job = crew->live[i];

        if (!atomic_load(&job->has_ended))
            continue;
        for (size_t held = job->child.given + 1; held > 0; held--)
            jobserver_release(crew->jobserver);
        child_tokens_close(&job->child);
        crew->live[i] = crew->live[--crew->running];
        events_count("tokens", crew->running);
    }
}

/* The child that gets the next token: one that has the fewest; NULL = each has one for each of its
 * threads. */
static struct child_tokens *neediest(const struct crew *crew)
{
    uint32_t threads = crew->request->child_threads;
    size_t least = threads > 1 ? threads - 1 : 0;
    struct child_tokens *found = NULL;

    for (size_t i = 0; i < crew->running; i++) {
        struct child_tokens *child = &crew->live[i]->child;

        if (child->given < least && !child->error) {
            least = child->given;
            found = child;
        }
    }
    return found;
}

/* Starts jobs as tokens arrive, and returns tokens as jobs end. Tokens that cannot start a job go
 * to the threads of running children. There is always progress: when nothing runs, the implicit
 * token is free. */
static void run_with_tokens(struct crew *crew)
{
    const struct dispatch_request *request = crew->request;
    struct job *next = crew->jobs, *end = next + request->count;

    while (next < end || crew->running > 0) {
        bool is_startable = next < end && crew->running < crew->thread_count;
        struct child_tokens *child = NULL;

        if (next < end && request->is_cancelled && request->is_cancelled(next->task->argument)) {
            next->task->run(next->task->argument);
            next++;
            continue;
        }
        if (!is_startable)
            child = neediest(crew);
        if (!(is_startable || child) || !jobserver_acquire(crew->jobserver, crew->ended_fd))
            end_jobs(crew);
        else if (is_startable)
            start_job(crew, next++);
        else if (!child_tokens_give(child))
            jobserver_release(crew->jobserver);
    }
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

/* Returns how many threads ran the tasks; 0 = none has, as no thread could be started. */
static uint32_t run_in_threads(const struct dispatch_request *request, struct jobserver *jobserver,
                               uint32_t threads)
{
    struct crew crew = {.request = request, .jobserver = jobserver};

    begin_crew(&crew, threads);
    report_lost(threads, crew.thread_count);
    if (crew.thread_count && jobserver)
        run_with_tokens(&crew);
    else if (crew.thread_count)
        for (size_t i = 0; i < request->count; i++)
            put_job(&crew, &crew.jobs[i]);
    end_crew(&crew);
    return (uint32_t)crew.thread_count;
}

/* With `is_limited`, make has no token except the calling thread's: children may have one thread.
 */
static void run_here(const struct dispatch_request *request, bool is_limited)
{
    const struct child_tokens *before = child_tokens_get();
    struct child_tokens none = {.fds = {-1, -1}};

    if (is_limited && request->child_threads > 1) {
        child_tokens_open(&none);
        child_tokens_set(&none);
    }
    for (size_t i = 0; i < request->count; i++)
        request->tasks[i].run(request->tasks[i].argument);
    child_tokens_set(before);
    child_tokens_close(&none);
}

uint32_t dispatch_run(const struct dispatch_request *request)
{
    uint32_t wanted = request->threads < JOBSERVER_MOST ? request->threads : JOBSERVER_MOST;
    uint32_t threads = wanted < request->count ? wanted : (uint32_t)request->count;
    uint32_t most = UINT32_MAX; /* 1: make allows the link one job, and there is no token */
    uint32_t used = 0;
    struct jobserver *jobserver = NULL;
    bool is_limited;

    if (threads > 1 || request->child_threads > 1)
        jobserver = jobserver_join(request->jobserver, &most);
    is_limited = most == 1 || jobserver;
    if (jobserver || (threads > 1 && most > 1))
        used = run_in_threads(request, jobserver, threads);
    jobserver_close(jobserver);
    if (used == 0)
        run_here(request, is_limited);
    return used ? used : 1;
}
