/* pool.h: how many threads a link may have. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Processors that this process may use (os/cgroup.h), at least 1, as of the first call: reading the
 * files for it each time would be noticeable in a link of two small texts. */
size_t pool_cpu_count(void);

/* Why only one thread may be used, whatever was requested; NULL = no limit. */
const char *pool_sequential_reason(void);

/* The largest number of threads that may work at a time, from that reason, the number of processors
 * and `limit` (0 = none). */
uint32_t pool_threads(uint32_t limit);

/* No limit, whatever control groups say. */
#define MEMORY_BUDGET_UNLIMITED UINT64_MAX

/* The largest number of threads, up to `threads` (at least 1), such that any that many of the tasks
 * fit into `limit` bytes together with this process's peak memory so far: the largest ones may run
 * at the same time. `limit` 0 = what the control groups of this process allow, as of the first call
 * (os/cgroup.h). `needs` has the estimated bytes of each of the `count` tasks, and is sorted. Never
 * 0: a task that does not fit runs alone. */
uint32_t memory_budget_threads(uint32_t threads, uint64_t limit, uint64_t *needs, size_t count);
