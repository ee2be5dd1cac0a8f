/* machine.c: limits of control groups, from the process's own up to the mount point; and the heap.
 *
 * /proc/self/cgroup names the group as its namespace sees it. In a container with the host's
 * namespace, that path does not exist below the mount point, which is then the container's own
 * group; since missing folders are skipped, the walk ends there all the same. */
#include "os/machine.h"

#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Version 1 reports no limit of memory as a number that no machine has. */
#define MOST_LIMIT (UINT64_C(1) << 62)

/* Linux supports 8192 at most. */
#define MOST_PROCESSORS (1 << 16)

/* Where one version of the interface has a limit: a quota for each period, of which version 2 has
 * both in one file, or a number of bytes. */
struct hierarchy {
    const char *controller; /* in /proc/self/cgroup; "" is version 2 */
    const char *mount;
    const char *file;
    const char *period; /* its own file; or NULL */
    bool is_quota;
};

static const struct hierarchy cpu[] = {
    {"", "/sys/fs/cgroup", "cpu.max", NULL, true},
    {"cpu", "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us", true},
};
static const struct hierarchy memory[] = {
    {"", "/sys/fs/cgroup", "memory.max", NULL, false},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", NULL, false},
};

static FILE *open_in(const char *folder, const char *name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/%s", folder, name) < PATH_MAX ? fopen(path, "re") : NULL;
}

/* Reads the file's only line, of one number or two. Returns how many there are; 0 for anything
 * else, such as "max" and "-1". */
static int read_numbers(const char *folder, const char *name, uint64_t *first, uint64_t *second)
{
    FILE *file = open_in(folder, name);
    char line[64] = "", more;
    int count = 0;

    if (file && fgets(line, sizeof line, file) && !line[strspn(line, "0123456789 \n")])
        count = sscanf(line, "%" SCNu64 " %" SCNu64 " %c", first, second, &more);
    if (file)
        fclose(file);
    return count > 0 && count < 3 ? count : 0;
}

static uint64_t limit_in(const char *folder, const struct hierarchy *hierarchy)
{
    uint64_t limit = 0, period = 0, none;
    int count = read_numbers(folder, hierarchy->file, &limit, &period);

    if (hierarchy->period)
        count += read_numbers(folder, hierarchy->period, &period, &none);
    if (!hierarchy->is_quota)
        return count == 1 && limit < MOST_LIMIT ? limit : 0;
    return count == 2 && limit && period ? (limit - 1) / period + 1 : 0;
}

/* Whether a line "ID:CONTROLLERS:PATH" is of the controller; moves *line to the path if so. */
static bool is_of_controller(char **line, const char *controller)
{
    char *list = strchr(*line, ':'), *word;

    list = list ? list + 1 : NULL;
    word = strsep(&list, ":");
    if (!list)
        return false;
    *line = list;
    while ((list = strsep(&word, ",")))
        if (strcmp(list, controller) == 0)
            return true;
    return false;
}

/* Copies the path of the process's group; "" if there is none that the process may see. */
static void find_group(const char *root, const char *controller, char path[PATH_MAX])
{
    FILE *file = open_in(root, "proc/self/cgroup");
    char *line = NULL, *at;
    size_t size = 0;

    path[0] = '\0';
    while (file && getline(&line, &size, file) > 0) {
        at = line;
        if (!is_of_controller(&at, controller))
            continue;
        at[strcspn(at, "\n")] = '\0';
        if (at[0] == '/' && !strstr(at, "/..") && strlen(at) < PATH_MAX)
            strcpy(path, at);
        break;
    }
    free(line);
    if (file)
        fclose(file);
}

/* The least limit of the process's group and of those above it, in both versions. */
static uint64_t find_limit(const char *root, const struct hierarchy hierarchies[2])
{
    char group[PATH_MAX], folder[PATH_MAX], *slash;
    uint64_t limit = 0;

    for (const struct hierarchy *at = hierarchies; at < hierarchies + 2; at++) {
        find_group(root, at->controller, group);
        do {
            size_t length =
                (size_t)snprintf(folder, sizeof folder, "%s%s%s", root, at->mount, group);
            uint64_t own = length < sizeof folder ? limit_in(folder, at) : 0;

            limit = own && (own < limit || !limit) ? own : limit;
            slash = strrchr(group, '/');
            if (slash)
                *slash = '\0';
        } while (slash);
    }
    return limit;
}

uint64_t cgroup_cpu_limit(const char *root)
{
    return find_limit(root, cpu);
}

size_t cgroup_processors(const char *root)
{
    cpu_set_t set[MOST_PROCESSORS / CPU_SETSIZE];
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = online > 0 ? (size_t)online : 1;
    uint64_t limit = cgroup_cpu_limit(root);

    /* The kernel refuses masks that are smaller than its own (sched_getaffinity(2)). */
    if (sched_getaffinity(0, sizeof set, set) == 0)
        count = (size_t)CPU_COUNT_S(sizeof set, set);
    return limit && limit < count ? (size_t)limit : count;
}

uint64_t cgroup_memory_limit(const char *root)
{
    return find_limit(root, memory);
}

/* Whether malloc takes blocks from the heap, whose end it moves, or from mappings of their own. */

/* Larger blocks, such as whole files, are used once: they come from mmap and go back at once. */
#define LARGE_BLOCK (4 << 20)

/* Of x86-64, and of ARM where small pages have 4 KB. */
#define LARGE_PAGE ((uintptr_t)2 << 20)

/* Asking for large pages costs as much as a dozen faults; and clearing hundreds of MB is slow where
 * a virtual machine's memory is not backed yet. */
#define LEAST_EXPECTED ((size_t)4 << 20)
#define MOST_EXPECTED  ((size_t)128 << 20)

#define MOST_MAPPED_BLOCKS 65536      /* malloc's own value */
#define LARGEST_IN_HEAP    (32 << 20) /* the most that malloc takes for M_MMAP_THRESHOLD */

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

static bool is_kept; /* set before there are threads */

/* Moves the end of the heap, from which malloc takes the blocks that follow. */
struct heap_range heap_expect(size_t bytes)
{
    struct heap_range range = {0};
    uintptr_t block, begin, end;

    if (!is_kept || bytes < LEAST_EXPECTED)
        return range;
    /* Other threads' blocks, and arrays of all sections or symbols, come from there, too. */
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGEST_IN_HEAP);
    mallopt(M_MMAP_MAX, 0);
    block = (uintptr_t)malloc(bytes < MOST_EXPECTED ? bytes : MOST_EXPECTED);
    mallopt(M_MMAP_MAX, MOST_MAPPED_BLOCKS);
    begin = (block + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    end = (uintptr_t)sbrk(0);
    if (block && begin < end && madvise((void *)begin, end - begin, MADV_HUGEPAGE) == 0)
        range = (struct heap_range){begin, (end - begin) / LARGE_PAGE};
    free((void *)block);
    return range;
}

void heap_prepare(const struct heap_range *range, size_t part, size_t parts)
{
    size_t first = range->pages * part / parts;
    size_t last = range->pages * (part + 1) / parts;

    /* Fails before Linux 5.14: each page then comes at its first use. */
    if (first < last)
        madvise((void *)(range->begin + first * LARGE_PAGE), (last - first) * LARGE_PAGE,
                MADV_POPULATE_WRITE);
}

void heap_keep_freed(void)
{
    is_kept = true;
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, LARGE_BLOCK); /* unused pages cost nothing */
}

/* /proc/self/statm begins with both, in pages (proc(5)). */
struct heap_use heap_use(void)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long mapped = 0, resident = 0;

    if (file && fscanf(file, "%lu %lu", &mapped, &resident) != 2)
        mapped = resident = 0;
    if (file)
        fclose(file);
    return (struct heap_use){mapped * page, resident * page};
}
