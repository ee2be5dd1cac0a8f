/* pool.h: a pool of worker threads.
 *
 * Properties. A fixed number of joinable pthreads named minilink-1 ... -N; one mutex; a heap of
 * tasks ordered by (priority, sequence): the highest priority first, first come first served among
 * equals. minilink-internals(7), Thread pool, compares it with the description.
 *
 * Operation. create, submit and wait any number of times, destroy.
 *
 * Safety. A pool has one owner, the thread that made it; only that submits, waits and destroys. A
 * task may not use the pool that runs it. There may be several pools, and a task may own one. A
 * task runs without the mutex held. The task sees everything that the owner wrote before submit,
 * and after wait the owner sees what the task wrote. Workers block all signals but a crash's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool;

/* Makes a pool of up to `threads` workers (at least 1). It works with fewer threads than requested;
 * returns NULL when not even one could be started: the caller then does the work itself. */
struct pool *pool_create(size_t threads);

/* Workers that were started. */
size_t pool_thread_count(const struct pool *pool);

/* Lives until run() begins, and its argument until that has returned. */
struct pool_task {
    void (*run)(void *argument);
    void *argument;
    uint32_t priority; /* the highest is started first; first come first served among equals */
    uint32_t sequence; /* the pool's */
};

/* Queues tasks, all at once: no worker takes the first before the last is queued. Returns how many
 * are queued; the rest are not if memory runs out or a task has no function. */
size_t pool_submit(struct pool *pool, struct pool_task *tasks, size_t count);

/* Blocks until every submitted task has ended. */
void pool_wait(struct pool *pool);

/* Drops tasks that have not started, waits for running ones, and frees the pool. Accepts NULL. */
void pool_destroy(struct pool *pool);

/* Processors that this process may use (os/machine.h), at least 1, as of the first call: reading
 * the files for it each time would be noticeable in a link of two small texts. */
size_t pool_cpu_count(void);

/* Why only one thread may be used, whatever was requested; NULL = no limit. */
const char *pool_sequential_reason(void);

/* The number of threads for that many pieces of work: `wanted` (0 = one for each processor), but at
 * most `limit` (0 = none) and one for each piece; 1 where there is such a reason; never 0. */
uint32_t pool_threads(uint32_t wanted, uint32_t limit, size_t pieces);

/* No limit, whatever control groups say. */
#define MEMORY_BUDGET_UNLIMITED UINT64_MAX

/* The largest number of threads, up to `threads` (at least 1), such that any that many of the tasks
 * fit into `limit` bytes together with this process's peak memory so far: the largest ones may run
 * at the same time. `limit` 0 = what the control groups of this process allow (os/machine.h).
 * `needs` has the estimated bytes of each of the `count` tasks, and is sorted. Never 0. */
uint32_t memory_budget_threads(uint32_t threads, uint64_t limit, uint64_t *needs, size_t count);

/* A binary heap of pointers.
 *
 * Not thread-safe: the pool calls it with its mutex held. For the same reason, running out of
 * memory is a return value here, never a jump.
 * Start with {.comparator = ...}. */
struct pqueue {
    void **array;    /* the heap; array[0] leaves next */
    size_t count;    /* elements in it */
    size_t capacity; /* elements that fit */
    /* Non-zero when `a` leaves before `b`: of two different elements, one does. */
    int (*comparator)(const void *a, const void *b);
};

/* Adds an element, in O(log n). False when memory runs out; the queue is then unchanged. */
bool pqueue_push(struct pqueue *queue, void *element);

/* Removes and returns the first element, in O(log n); NULL when there is none. */
void *pqueue_pop(struct pqueue *queue);

/* Frees the queue's memory, not its elements. For CONTEXT_DEFER, too. */
void pqueue_free(void *queue);
