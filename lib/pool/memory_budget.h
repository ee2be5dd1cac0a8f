/* memory_budget.h: how many tasks fit into memory at one time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* No limit, whatever control groups say. */
#define MEMORY_BUDGET_UNLIMITED UINT64_MAX

/* The largest number of threads, up to `threads` (at least 1), such that any that many of the tasks
 * fit into `limit` bytes together with this process's peak memory so far. `limit` 0 = what the
 * control groups of this process allow, as of the first call (os/cgroup.h). `needs` has the
 * estimated bytes of each of the `count` tasks, and is sorted. Never 0: a task that does not fit
 * runs alone. */
uint32_t memory_budget_threads(uint32_t threads, uint64_t limit, uint64_t *needs, size_t count);
