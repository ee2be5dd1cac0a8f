/* internal.h: a pool of worker threads.
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

#include "pool/pool.h"

/* Makes a pool of up to `threads` workers (at least 1). It works with fewer threads than requested;
 * returns NULL when not even one could be started: the caller then does the work itself. */
struct pool *pool_create(size_t threads);

/* Workers that were started. */
size_t pool_thread_count(const struct pool *pool);

/* Queues tasks, all at once: no worker takes the first before the last is queued. Returns how many
 * are queued; the rest are not if memory runs out or a task has no function. */
size_t pool_submit(struct pool *pool, struct pool_task *tasks, size_t count);

/* Blocks until every submitted task has ended. */
void pool_wait(struct pool *pool);

/* Drops tasks that have not started, waits for running ones, and frees the pool. Accepts NULL. */
void pool_destroy(struct pool *pool);

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
