/* pool.c: workers that wait on one condition variable for a task. */
#include "pool/internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/search.h"
#include "os/cleanup.h"
#include "os/machine.h"
#include "os/thread.h"

struct pool {
    pthread_t *threads; /* the owner's */
    size_t started;     /* their number */
    /* The rest is guarded by mutex. */
    struct pqueue queue;    /* of struct pool_task, which the heap orders */
    uint32_t next_sequence; /* of the next task */
    pthread_mutex_t mutex;
    pthread_cond_t task_cond; /* a task was queued, or shutdown began */
    pthread_cond_t done_cond; /* the last task ended */
    size_t active;            /* tasks being run */
    uint32_t numbered;        /* workers that have taken a number */
    bool shutdown;
};

/* Highest priority first, then first come first served. Sequence numbers wrap around, but the
 * difference of two that are queued at the same time does not. */
static int leaves_work_before(const void *a, const void *b)
{
    const struct pool_task *first = a, *second = b;

    if (first->priority != second->priority)
        return first->priority > second->priority;
    return (int32_t)(first->sequence - second->sequence) < 0;
}

/* Waits for a task and counts it as active. NULL when the pool shuts down. Mutex held. */
static struct pool_task *next_task(struct pool *pool)
{
    while (pool->queue.count == 0) {
        if (pool->shutdown)
            return NULL;
        pthread_cond_wait(&pool->task_cond, &pool->mutex);
    }
    pool->active++;
    return pqueue_pop(&pool->queue);
}

/* Sets the name from within the thread: to name another thread, glibc opens a file without
 * O_CLOEXEC, which a child started at that moment would inherit. */
static void take_thread_name(unsigned number)
{
    char name[16]; /* Linux's limit */

    snprintf(name, sizeof name, "minilink-%u", number % 1000000);
    prctl(PR_SET_NAME, name);
}

static void *worker_main(void *argument)
{
    struct pool *pool = argument;
    void *stack = cleanup_stack_open();
    struct pool_task *task;

    pthread_mutex_lock(&pool->mutex);
    take_thread_name(++pool->numbered);
    thread_use_c_locale(); /* a new thread has the program's locale, not its creator's */
    while ((task = next_task(pool)) != NULL) {
        pthread_mutex_unlock(&pool->mutex);
        task->run(task->argument);
        pthread_mutex_lock(&pool->mutex);
        pool->active--;
        if (pool->active == 0 && pool->queue.count == 0)
            pthread_cond_signal(&pool->done_cond);
    }
    pthread_mutex_unlock(&pool->mutex);
    cleanup_stack_close(stack);
    return NULL;
}

/* Starts up to `threads` workers. Handlers of other signals read the link thread's data. */
static void start_workers(struct pool *pool, size_t threads)
{
    static const int crashes[] = {CLEANUP_CRASHES};
    sigset_t all, before;

    sigfillset(&all);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigdelset(&all, crashes[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited by the workers */
    while (pool->started < threads &&
           pthread_create(&pool->threads[pool->started], NULL, worker_main, pool) == 0)
        pool->started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct pool *pool_create(size_t threads)
{
    struct pool *pool = calloc(1, sizeof *pool);

    threads = threads ? threads : 1;
    if (!pool)
        return NULL;
    *pool = (struct pool){.threads = calloc(threads, sizeof *pool->threads),
                          .queue.comparator = leaves_work_before,
                          .mutex = PTHREAD_MUTEX_INITIALIZER,
                          .task_cond = PTHREAD_COND_INITIALIZER,
                          .done_cond = PTHREAD_COND_INITIALIZER};
    if (pool->threads)
        start_workers(pool, threads);
    if (pool->started)
        return pool;
    pool_destroy(pool);
    return NULL;
}

size_t pool_thread_count(const struct pool *pool)
{
    return pool->started;
}

/* Mutex held. */
static bool queue_task(struct pool *pool, struct pool_task *task)
{
    task->sequence = pool->next_sequence;
    if (!task->run || pool->queue.count == INT32_MAX || !pqueue_push(&pool->queue, task))
        return false;
    pool->next_sequence++;
    pthread_cond_signal(&pool->task_cond);
    return true;
}

size_t pool_submit(struct pool *pool, struct pool_task *tasks, size_t count)
{
    size_t queued = 0;

    pthread_mutex_lock(&pool->mutex);
    while (queued < count && queue_task(pool, &tasks[queued]))
        queued++;
    pthread_mutex_unlock(&pool->mutex);
    return queued;
}

void pool_wait(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    while (pool->queue.count != 0 || pool->active != 0)
        pthread_cond_wait(&pool->done_cond, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

void pool_destroy(struct pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->queue.count = 0;
    pool->shutdown = true;
    pthread_cond_broadcast(&pool->task_cond);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->started; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->done_cond);
    pthread_cond_destroy(&pool->task_cond);
    pthread_mutex_destroy(&pool->mutex);
    pqueue_free(&pool->queue);
    free(pool->threads);
    free(pool);
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

uint32_t pool_threads(uint32_t wanted, uint32_t limit, size_t pieces)
{
    size_t count = pool_sequential_reason() ? 1 : wanted ? wanted : pool_cpu_count();

    count = limit && count > limit ? limit : count;
    count = count > pieces ? pieces : count;
    return count ? (uint32_t)count : 1;
}

/* Largest first. */
COMPARISON(compare_needs, uint64_t, COMPARE(*b, *a));

uint32_t memory_budget_threads(uint32_t threads, uint64_t limit, uint64_t *needs, size_t count)
{
    uint64_t own = 0, left;
    uint32_t fitting = 0;
    struct rusage usage;

    if (threads <= 1 || count == 0)
        return threads;
    limit = limit ?: cgroup_memory_limit("") ?: MEMORY_BUDGET_UNLIMITED;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        own = (uint64_t)usage.ru_maxrss * 1024;
    left = limit > own ? limit - own : 0;
    SORT(needs, count, compare_needs);
    while (fitting < threads && fitting < count && needs[fitting] <= left)
        left -= needs[fitting++];
    if (fitting == count)
        return threads;
    return fitting ? fitting : 1;
}

/* The heap: sift up on push, sift down on pop; the children of i are 2i + 1 and 2i + 2. */

static bool grow_queue(struct pqueue *queue)
{
    size_t capacity = queue->capacity ? queue->capacity * 2 : 16;
    void **array;

    if (queue->capacity > SIZE_MAX / sizeof *array / 2)
        return false;
    array = realloc(queue->array, capacity * sizeof *array);
    if (!array)
        return false;
    queue->array = array;
    queue->capacity = capacity;
    return true;
}

bool pqueue_push(struct pqueue *queue, void *element)
{
    size_t i;

    if (queue->count == queue->capacity && !grow_queue(queue))
        return false;
    for (i = queue->count++; i > 0; i = (i - 1) / 2) {
        void *parent = queue->array[(i - 1) / 2];

        if (!queue->comparator(element, parent))
            break;
        queue->array[i] = parent;
    }
    queue->array[i] = element;
    return true;
}

/* The child of i that leaves first; `count` when there is none. */
static size_t first_child(const struct pqueue *queue, size_t i)
{
    size_t left = 2 * i + 1, right = left + 1;

    if (left >= queue->count)
        return queue->count;
    if (right < queue->count && queue->comparator(queue->array[right], queue->array[left]))
        return right;
    return left;
}

void *pqueue_pop(struct pqueue *queue)
{
    void *first, *moved;
    size_t i = 0;

    if (queue->count == 0)
        return NULL;
    first = queue->array[0];
    moved = queue->array[--queue->count];
    for (size_t child = first_child(queue, i); child < queue->count;
         child = first_child(queue, i)) {
        if (!queue->comparator(queue->array[child], moved))
            break;
        queue->array[i] = queue->array[child];
        i = child;
    }
    queue->array[i] = moved;
    return first;
}

void pqueue_free(void *queue)
{
    free(((struct pqueue *)queue)->array);
}
