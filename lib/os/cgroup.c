/* cgroup.c: from the process's own group up to the mount point, one small file at a time.
 *
 * /proc/self/cgroup names the group as its namespace sees it. In a container with the host's
 * namespace, that path does not exist below the mount point, which is then the container's own
 * group; since missing folders are skipped, the walk ends there all the same. */
#include "os/cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* No limit's file is longer; /proc/self/cgroup is only if groups have very long names. */
#define FILE_MOST 8192

/* Version 1 reports no limit as a number of whole pages that is more than any machine has. */
#define MEMORY_MOST (UINT64_C(1) << 62)

/* Linux supports 8192 at most. */
#define MOST_PROCESSORS ((size_t)1 << 16)

/* A mount point, and the limit that a folder below it sets (0 = none). */
struct hierarchy {
    const char *controller; /* in /proc/self/cgroup; "" is version 2 */
    const char *mount;
    uint64_t (*limit)(const char *folder);
};

/* Reads a file as a string; "" if it cannot be read. A longer file is truncated. */
static void read_limit_text(const char *folder, const char *name, char text[FILE_MOST])
{
    char path[PATH_MAX];
    size_t size = 0;
    ssize_t count = 0;
    int fd = -1;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    do {
        count = fd < 0 ? 0 : read(fd, text + size, FILE_MOST - 1 - size);
        size += count > 0 ? (size_t)count : 0;
    } while (count > 0 || (count < 0 && errno == EINTR));
    text[size] = '\0';
    if (fd >= 0)
        close(fd);
}

/* Takes the number at *text and the blanks and newlines after it; 0 for anything else, such as
 * "max" and "-1". */
static uint64_t take_field_number(const char **text)
{
    char *end = (char *)*text;
    uint64_t number = isdigit((unsigned char)**text) ? strtoull(*text, &end, 10) : 0;

    end += strspn(end, " \n");
    *text = end;
    return number;
}

static uint64_t read_limit(const char *folder, const char *name)
{
    char text[FILE_MOST];
    const char *at = text;
    uint64_t number;

    read_limit_text(folder, name, text);
    number = take_field_number(&at);
    return *at ? 0 : number;
}

static uint64_t round_up(uint64_t quota, uint64_t period)
{
    return quota && period ? (quota - 1) / period + 1 : 0;
}

/* "QUOTA PERIOD", in microseconds. */
static uint64_t cpus_v2(const char *folder)
{
    char text[FILE_MOST];
    const char *at = text;
    uint64_t quota, period;

    read_limit_text(folder, "cpu.max", text);
    quota = take_field_number(&at);
    period = take_field_number(&at);
    return *at ? 0 : round_up(quota, period);
}

static uint64_t cpus_v1(const char *folder)
{
    return round_up(read_limit(folder, "cpu.cfs_quota_us"),
                    read_limit(folder, "cpu.cfs_period_us"));
}

static uint64_t memory_v2(const char *folder)
{
    return read_limit(folder, "memory.max");
}

static uint64_t memory_v1(const char *folder)
{
    uint64_t limit = read_limit(folder, "memory.limit_in_bytes");

    return limit < MEMORY_MOST ? limit : 0;
}

/* Whether `name` is one of the words of a comma-separated list; "" is an empty list. */
static bool is_listed_controller(struct text list, const char *name)
{
    struct text word;

    if (!*name)
        return list.size == 0;
    while (text_take_part(&list, &word))
        if (text_equal(word, text_of(name)))
            return true;
    return false;
}

/* Copies the path of the process's group from lines "ID:CONTROLLERS:PATH"; "" if there is none, or
 * if it leads out of what the process may see. */
static void find_group(const char *groups, const char *controller, char path[FILE_MOST])
{
    path[0] = '\0';
    for (const char *line = groups, *end; (end = strchr(line, '\n')); line = end + 1) {
        const char *list = memchr(line, ':', (size_t)(end - line));
        const char *name = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;

        if (!name ||
            !is_listed_controller((struct text){list + 1, (size_t)(name - list - 1)}, controller))
            continue;
        snprintf(path, FILE_MOST, "%.*s", (int)(end - name - 1), name + 1);
        if (path[0] != '/' || strstr(path, "/.."))
            path[0] = '\0';
        return;
    }
}

static uint64_t least_limit(uint64_t a, uint64_t b)
{
    return a && (a < b || !b) ? a : b;
}

static uint64_t walk_hierarchy(const char *root, const char *groups,
                               const struct hierarchy *hierarchy)
{
    char group[FILE_MOST], folder[PATH_MAX];
    uint64_t limit = 0;

    find_group(groups, hierarchy->controller, group);
    for (;;) {
        int length = snprintf(folder, sizeof folder, "%s%s%s", root, hierarchy->mount, group);
        char *slash = strrchr(group, '/');

        if (length > 0 && (size_t)length < sizeof folder)
            limit = least_limit(limit, hierarchy->limit(folder));
        if (!slash)
            break;
        *slash = '\0';
    }
    return limit;
}

static uint64_t find_limit(const char *root, const struct hierarchy *hierarchies, size_t count)
{
    char groups[FILE_MOST], folder[PATH_MAX];
    uint64_t limit = 0;

    snprintf(folder, sizeof folder, "%s/proc/self", root);
    read_limit_text(folder, "cgroup", groups);
    for (size_t i = 0; i < count; i++)
        limit = least_limit(limit, walk_hierarchy(root, groups, &hierarchies[i]));
    return limit;
}

uint64_t cgroup_cpu_limit(const char *root)
{
    static const struct hierarchy hierarchies[] = {
        {"", "/sys/fs/cgroup", cpus_v2},
        {"cpu", "/sys/fs/cgroup/cpu", cpus_v1},
    };

    return find_limit(root, hierarchies, sizeof hierarchies / sizeof *hierarchies);
}

/* The kernel refuses masks that are smaller than its own (sched_getaffinity(2)). 0 if it refuses
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

size_t cgroup_processors(const char *root)
{
    size_t count = count_affinity();
    uint64_t limit = cgroup_cpu_limit(root);

    if (count == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);

        count = online > 0 ? (size_t)online : 1;
    }
    return limit && limit < count ? (size_t)limit : count;
}

uint64_t cgroup_memory_limit(const char *root)
{
    static const struct hierarchy hierarchies[] = {
        {"", "/sys/fs/cgroup", memory_v2},
        {"memory", "/sys/fs/cgroup/memory", memory_v1},
    };

    return find_limit(root, hierarchies, sizeof hierarchies / sizeof *hierarchies);
}
