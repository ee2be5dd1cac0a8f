/* pool.h: the tasks of a pool of threads, and how many threads may run them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Lives until run() begins, and its argument until that has returned. */
struct pool_task {
    void (*run)(void *argument);
    void *argument;
    uint32_t priority; /* the highest is started first; first come first served among equals */
    uint32_t sequence; /* the pool's */
};

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
