/* pool.h: a pool of worker threads.
 *
 * Properties. A fixed number of joinable pthreads named minilink-1 ... -N; one mutex; a heap of
 * tasks ordered by (priority, sequence): the highest priority first, first come first served among
 * equals. Sizes are those of the description (minilink-internals(7), Thread pool): control block
 * 184 bytes, task node 24, queue 32. Unlike it: workers are joined, one worker is woken per task,
 * thread creation may fail.
 *
 * Operation. create, submit any number of times, wait, destroy, in that order. wait may be followed
 * by more tasks. destroy without wait drops what has not started. A pool is not reusable after
 * destroy.
 *
 * Safety. A pool has one owner, the thread that made it, which alone submits, waits and destroys; a
 * task may not use the pool that runs it. There may be several pools, and a task may own one. A
 * task runs without the mutex held. What the owner wrote before submit is visible to the task, and
 * what the task writes is visible to the owner after wait. Workers block every signal but those of
 * a crash. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pool;

/* Makes a pool of up to `threads` workers (at least 1). With fewer threads than asked it goes on;
 * returns NULL when not even one could be started: the caller then does the work itself. */
struct pool *pool_create(size_t threads);

/* Workers that were started. */
size_t pool_thread_count(const struct pool *pool);

struct pool_task {
    void (*run)(void *argument);
    void *argument;    /* lives until run() has returned */
    uint32_t priority; /* the highest is started first; first come first served among equals */
};

/* Queues tasks, all at once: no worker takes the first before the last is there. Returns how many
 * are queued; those behind them are not when memory runs out, or where one has no function. */
size_t pool_submit(struct pool *pool, const struct pool_task *tasks, size_t count);

/* Blocks until every submitted task has ended. */
void pool_wait(struct pool *pool);

/* Ends the pool: tasks that have not started are dropped, running ones are waited for. Accepts
 * NULL. */
void pool_destroy(struct pool *pool);

/* Which worker of its pool the calling thread is, 1 to pool_thread_count; 0 when it is none. Tasks
 * that keep something for each worker need no lock then. */
size_t pool_worker(void);

/* Processors that this process may use (os/cgroup.h), at least 1, as it was when it was first
 * asked: a link of two small texts would notice the files that are read for it. */
size_t pool_cpu_count(void);

/* Why there is one thread only, whatever was asked for; NULL = there may be more. */
const char *pool_sequential_reason(void);

/* The most threads that work at a time, by that, the processors and the limit (0 = none). */
uint32_t pool_threads(uint32_t limit);
