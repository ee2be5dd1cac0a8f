/* processors.c: the affinity mask, and what is left of it by control groups. */
#include "os/processors.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "os/cgroup.h"

/* Linux itself has 8192 at most. */
#define MOST_PROCESSORS ((size_t)1 << 16)

/* The kernel refuses masks that are smaller than its own (sched_getaffinity(2)). 0 where it refuses
 * all. */
static size_t count_affinity(void)
{
    size_t count = 0;

    for (size_t most = CPU_SETSIZE; count == 0 && most <= MOST_PROCESSORS; most *= 2) {
        size_t size = CPU_ALLOC_SIZE(most);
        cpu_set_t *set = CPU_ALLOC(most);
        int failed = set ? sched_getaffinity(0, size, set) : -1;

        if (!failed)
            count = (size_t)CPU_COUNT_S(size, set);
        CPU_FREE(set);
        if (failed && (!set || errno != EINVAL))
            break;
    }
    return count;
}

size_t processors_count(const char *root)
{
    size_t count = count_affinity();
    uint64_t limit = cgroup_cpu_limit(root);

    if (count == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);

        count = online > 0 ? (size_t)online : 1;
    }
    return limit && limit < count ? (size_t)limit : count;
}
