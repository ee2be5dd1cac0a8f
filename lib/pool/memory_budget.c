/* memory_budget.c: assumes the worst case, that the largest tasks run at the same time. */
#include "pool/memory_budget.h"

#include <stdatomic.h>
#include <sys/resource.h>

#include "base/search.h"
#include "os/cgroup.h"

/* Largest first. */
COMPARISON(compare_needs, uint64_t, COMPARE(*b, *a));

static uint64_t groups_limit(void)
{
    static _Atomic uint64_t known;
    uint64_t limit = atomic_load_explicit(&known, memory_order_relaxed);

    if (limit == 0) {
        limit = cgroup_memory_limit("");
        limit = limit ? limit : MEMORY_BUDGET_UNLIMITED;
        atomic_store_explicit(&known, limit, memory_order_relaxed);
    }
    return limit;
}

uint32_t memory_budget_threads(uint32_t threads, uint64_t limit, uint64_t *needs, size_t count)
{
    uint64_t own = 0, left;
    uint32_t fitting = 0;
    struct rusage usage;

    if (threads <= 1 || count == 0)
        return threads;
    limit = limit ? limit : groups_limit();
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
