/* pool.c: asks the system, once where that takes time, and the environment. */
#include "pool/pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/search.h"
#include "os/cgroup.h"

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
