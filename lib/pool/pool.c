/* pool.c: workers that wait on one condition variable for a task.
 *
 * minilink-internals(7), Thread pool. The control block, the thread entries and the task nodes have
 * the sizes and offsets of the description; the two condition variables and the two ways to wait
 * are the same too. Intentional differences: the queue is properly ordered; one worker is woken per
 * task; workers are joined; a failure to create a thread is noticed; dropped tasks are freed.
 *
 * Workers have the default stack (8 MiB on Linux unless RLIMIT_STACK says otherwise), as in the
 * description, unless the user sets another. They block every signal except those of a crash, so
 * that handlers of other signals run in the link thread and may read its data. */
#include "pool/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "os/thread.h"
#include "os/cleanup.h"
#include "os/cgroup.h"
#include "pool/pqueue.h"

struct thread_entry {
    uint64_t slot; /* number of the worker, from 1; 0 ends the array */
    pthread_t thread;
};

/* In the description a link that nothing uses follows the first two: the heap orders the tasks. */
struct task_node {
    void (*func)(void *);
    void *arg;
    uint32_t priority;
    uint32_t sequence;
};

struct pool {
    struct thread_entry *thread_array; /* owner's; one entry per started worker, and an end */
    /* The rest is guarded by mutex. */
    struct pqueue *task_queue;
    uint32_t pending_count; /* tasks in the queue */
    uint32_t next_sequence; /* padding in the description */
    pthread_mutex_t mutex;
    pthread_cond_t task_cond; /* a task was queued, or shutdown began */
    pthread_cond_t done_cond; /* the last task ended, or a worker did */
    uint64_t active_count;    /* tasks being run */
    uint64_t thread_count;    /* workers alive */
    bool shutdown;
    uint8_t padding[3];
    uint32_t numbered; /* workers that have taken a number; padding in the description */
};

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__LP64__)
_Static_assert(sizeof(struct thread_entry) == 16, "thread entry");
_Static_assert(sizeof(struct task_node) == 24, "task node");
_Static_assert(offsetof(struct task_node, arg) == 8, "arg");
_Static_assert(sizeof(struct pool) == 184, "control block");
_Static_assert(offsetof(struct pool, thread_array) == 0, "thread_array");
_Static_assert(offsetof(struct pool, task_queue) == 8, "task_queue");
_Static_assert(offsetof(struct pool, pending_count) == 16, "pending_count");
_Static_assert(offsetof(struct pool, mutex) == 24, "mutex");
_Static_assert(offsetof(struct pool, task_cond) == 64, "task_cond");
_Static_assert(offsetof(struct pool, done_cond) == 112, "done_cond");
_Static_assert(offsetof(struct pool, active_count) == 160, "active_count");
_Static_assert(offsetof(struct pool, thread_count) == 168, "thread_count");
_Static_assert(offsetof(struct pool, shutdown) == 176, "shutdown");
#endif

/* Highest priority first, then first come first served. Sequence numbers wrap around, but the
 * difference of two that are queued at the same time does not. */
static int leaves_before(const void *a, const void *b)
{
    const struct task_node *first = a, *second = b;

    if (first->priority != second->priority)
        return first->priority > second->priority;
    return (int32_t)(first->sequence - second->sequence) < 0;
}

/* Waits for a task and counts it as active. NULL when the pool shuts down. Mutex held. */
static struct task_node *next_task(struct pool *pool)
{
    while (pool->pending_count == 0) {
        if (pool->shutdown)
            return NULL;
        pthread_cond_wait(&pool->task_cond, &pool->mutex);
    }
    pool->pending_count--;
    pool->active_count++;
    return pqueue_pop(pool->task_queue);
}

/* The calling thread's number in its pool, from 1; 0 = it is not a worker. */
static __thread uint32_t worker_number;

/* Sets the name from within the thread: to name another thread, glibc opens a file without
 * O_CLOEXEC, which a child started at that moment would inherit. */
static void take_name(void)
{
    char name[16]; /* Linux's limit */

    snprintf(name, sizeof name, "minilink-%u", (unsigned)worker_number % 1000000);
    prctl(PR_SET_NAME, name);
}

static void *worker_main(void *argument)
{
    struct pool *pool = argument;
    void *stack = cleanup_stack_open();
    struct task_node *task;

    pthread_mutex_lock(&pool->mutex);
    worker_number = ++pool->numbered;
    take_name();
    thread_use_c_locale(); /* a new thread has the program's locale, not its creator's */
    while ((task = next_task(pool)) != NULL) {
        pthread_mutex_unlock(&pool->mutex);
        task->func(task->arg);
        free(task);
        pthread_mutex_lock(&pool->mutex);
        pool->active_count--;
        if (!pool->shutdown && pool->active_count == 0 && pool->pending_count == 0)
            pthread_cond_signal(&pool->done_cond);
    }
    pool->thread_count--;
    pthread_cond_signal(&pool->done_cond);
    pthread_mutex_unlock(&pool->mutex);
    cleanup_stack_close(stack);
    return NULL;
}

/* Signals that a thread causes itself; if blocked, they would end the program without a handler. */
static const int crashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};

/* Starts up to `threads` workers and returns how many there are. */
static size_t start_workers(struct pool *pool, size_t threads)
{
    sigset_t all, before;
    size_t started;

    sigfillset(&all);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigdelset(&all, crashes[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited by the workers */
    for (started = 0; started < threads; started++) {
        struct thread_entry *entry = &pool->thread_array[started];

        if (pthread_create(&entry->thread, NULL, worker_main, pool))
            break;
        entry->slot = started + 1;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Frees everything that pool_create made, after the workers have ended. */
static void release(struct pool *pool)
{
    pthread_cond_destroy(&pool->done_cond);
    pthread_cond_destroy(&pool->task_cond);
    pthread_mutex_destroy(&pool->mutex);
    pqueue_destroy(pool->task_queue);
    free(pool->thread_array);
    free(pool);
}

/* False, with none of them made, when one fails, as can happen on systems other than Linux with
 * glibc. */
static bool make_locks(struct pool *pool)
{
    if (pthread_mutex_init(&pool->mutex, NULL))
        return false;
    if (pthread_cond_init(&pool->task_cond, NULL) == 0) {
        if (pthread_cond_init(&pool->done_cond, NULL) == 0)
            return true;
        pthread_cond_destroy(&pool->task_cond);
    }
    pthread_mutex_destroy(&pool->mutex);
    return false;
}

struct pool *pool_create(size_t threads)
{
    struct pool *pool;
    size_t started;

    if (threads == 0)
        threads = 1;
    if (threads == SIZE_MAX)
        return NULL;
    pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    if (!make_locks(pool)) {
        free(pool);
        return NULL;
    }
    pool->thread_array = calloc(threads + 1, sizeof *pool->thread_array);
    pool->task_queue = pqueue_create(leaves_before);
    started = pool->thread_array && pool->task_queue ? start_workers(pool, threads) : 0;
    if (started == 0) {
        release(pool);
        return NULL;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->thread_count = started;
    pthread_mutex_unlock(&pool->mutex);
    return pool;
}

size_t pool_thread_count(const struct pool *pool)
{
    size_t count = 0;

    while (pool->thread_array[count].slot != 0)
        count++;
    return count;
}

/* Mutex held. */
static bool queue_task(struct pool *pool, const struct pool_task *wanted)
{
    struct task_node *task;

    if (!wanted->run || pool->pending_count == INT32_MAX)
        return false;
    task = malloc(sizeof *task);
    if (!task)
        return false;
    *task =
        (struct task_node){wanted->run, wanted->argument, wanted->priority, pool->next_sequence};
    if (!pqueue_push(pool->task_queue, task)) {
        free(task);
        return false;
    }
    pool->next_sequence++;
    pool->pending_count++;
    pthread_cond_signal(&pool->task_cond);
    return true;
}

size_t pool_submit(struct pool *pool, const struct pool_task *tasks, size_t count)
{
    size_t queued = 0;

    pthread_mutex_lock(&pool->mutex);
    while (queued < count && queue_task(pool, &tasks[queued]))
        queued++;
    pthread_mutex_unlock(&pool->mutex);
    return queued;
}

/* minilink-internals(7), Life of a pool: until the tasks have ended, or, once shutdown has begun,
 * until the workers have. */
void pool_wait(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    while (pool->pending_count != 0 ||
           (pool->shutdown ? pool->thread_count : pool->active_count) != 0)
        pthread_cond_wait(&pool->done_cond, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

void pool_destroy(struct pool *pool)
{
    struct task_node *dropped;

    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    while ((dropped = pqueue_pop(pool->task_queue)) != NULL)
        free(dropped);
    pool->pending_count = 0;
    pool->shutdown = true;
    pthread_cond_broadcast(&pool->task_cond);
    pthread_mutex_unlock(&pool->mutex);

    pool_wait(pool);
    /* A worker that is no longer counted may still hold the mutex: only joining it ensures that it
     * has ended. */
    for (const struct thread_entry *entry = pool->thread_array; entry->slot != 0; entry++)
        pthread_join(entry->thread, NULL);
    release(pool);
}

size_t pool_worker(void)
{
    return worker_number;
}

size_t pool_cpu_count(void)
{
    static atomic_size_t known;
    size_t count = atomic_load_explicit(&known, memory_order_relaxed);

    if (count == 0) {
        count = cgroup_processors("");
        atomic_store_explicit(&known, count, memory_order_relaxed);
    }
    return count;
}

const char *pool_sequential_reason(void)
{
    return getenv("LIBNVVM_DISABLE_CONCURRENT_API") ? "LIBNVVM_DISABLE_CONCURRENT_API is set"
                                                    : NULL;
}

uint32_t pool_threads(uint32_t limit)
{
    size_t count = pool_sequential_reason() ? 1 : pool_cpu_count();

    return limit && count > limit ? limit : (uint32_t)count;
}
