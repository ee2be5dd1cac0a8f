/* check_cgroup.c: limits of control groups, out of folders that look like the kernel's. */
#include "os/machine.h"

#include <sched.h>

#include "os/file.h"
#include "files.h"
#include "suite.h"

#define V2 "/sys/fs/cgroup"

static struct folder root;

void set_up(void)
{
    ck_assert(folder_make(&root, NULL));
}

void tear_down(void)
{
    folder_remove(&root);
}

/* Writes a file below the root, and makes the folders that lead there. */
static void put(const char *name, const void *contents, size_t size)
{
    char *path = suite_print("%s%s", root.path, name);

    for (char *slash = path + strlen(root.path) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    files_save(path, contents, size);
}

static void put_text(const char *name, const char *contents)
{
    put(name, contents, strlen(contents));
}

TEST(without_files_there_is_no_limit)
{
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 0);
    ck_assert_uint_eq(cgroup_memory_limit(root.path), 0);
    ck_assert_uint_eq(cgroup_cpu_limit("/dev/null"), 0);
}

static const struct row {
    const char *cpu_max;
    uint64_t limit;
} rows[] = {
    {"max 100000\n", 0},
    {"200000 100000\n", 2},
    {"200001 100000\n", 3},
    {"50000 100000\n", 1},
    {"1 1000000", 1},
    {"18446744073709551615 1\n", UINT64_MAX},
    /* What no kernel writes. */
    {"", 0},
    {"\n", 0},
    {"max\n", 0},
    {"100000\n", 0},
    {"100000 0\n", 0},
    {"0 100000\n", 0},
    {"-100000 100000\n", 0},
    {"100000 -100000\n", 0},
    {"100000 100000 100000\n", 0},
    {"1.5 1\n", 0},
    {"0x200000 100000\n", 0},
    {"200000,100000\n", 0},
};

TEST_LOOP(quotas_round_up, COUNT(rows))
{
    put_text("/proc/self/cgroup", "0::/\n");
    put_text(V2 "/cpu.max", rows[_i].cpu_max);
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), rows[_i].limit);
}

TEST(the_smallest_limit_of_the_group_and_those_above_counts)
{
    put_text("/proc/self/cgroup", "0::/user.slice/build.scope\n");
    put_text(V2 "/user.slice/build.scope/cpu.max", "800000 100000\n");
    put_text(V2 "/user.slice/build.scope/memory.max", "max\n");
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 8);
    ck_assert_uint_eq(cgroup_memory_limit(root.path), 0);
    put_text(V2 "/user.slice/cpu.max", "300000 100000\n");
    put_text(V2 "/user.slice/memory.max", "4096\n");
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 3);
    ck_assert_uint_eq(cgroup_memory_limit(root.path), 4096);
    put_text(V2 "/cpu.max", "500000 100000\n");
    put_text(V2 "/memory.max", "1024\n");
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 3);
    ck_assert_uint_eq(cgroup_memory_limit(root.path), 1024);
    /* Those beside it are nobody's here. */
    put_text(V2 "/system.slice/cpu.max", "100000 100000\n");
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 3);
}

TEST(version_1_has_files_of_its_own)
{
    put_text("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/box\n1:cpuacct,cpu:/box/in\n0::/\n");
    put_text(V2 "/cpu/box/in/cpu.cfs_quota_us", "-1\n");
    put_text(V2 "/cpu/box/in/cpu.cfs_period_us", "100000\n");
    put_text(V2 "/memory/box/memory.limit_in_bytes", "9223372036854771712\n");
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 0);
    ck_assert_uint_eq(cgroup_memory_limit(root.path), 0);
    put_text(V2 "/cpu/box/cpu.cfs_quota_us", "250000\n");
    put_text(V2 "/cpu/box/cpu.cfs_period_us", "100000\n");
    put_text(V2 "/memory/box/memory.limit_in_bytes", "1048576\n");
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 3);
    ck_assert_uint_eq(cgroup_memory_limit(root.path), 1048576);
}

TEST(a_group_that_is_not_below_the_mount_point_has_the_mount_points_limit)
{
    put_text(V2 "/cpu.max", "200000 100000\n");
    put_text("/proc/self/cgroup", "0::/docker/0123456789abcdef\n");
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 2);
    /* Out of the namespace: nothing outside of the mount point is read. */
    put_text("/sys/fs/other/cpu.max", "100000 100000\n");
    put_text("/proc/self/cgroup", "0::/../other\n");
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 2);
}

TEST(hostile_files_are_no_limit)
{
    static char text[100000];

    /* A path that is longer than any, and no end of line. */
    memset(text, 'a', sizeof text);
    memcpy(text, "0::/", 4);
    put("/proc/self/cgroup", text, sizeof text);
    put_text(V2 "/cpu.max", "200000 100000\n");
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 2);
    text[5000] = '\n';
    put("/proc/self/cgroup", text, 5001);
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 2);
    /* Lines without colons, of nothing, of bytes 0. */
    put("/proc/self/cgroup", "\n:\n::\n0:\n0::\n\0\0\n0::x\n", 22);
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 2);
    /* Numbers without end; a folder where a file is expected. */
    memset(text, '9', sizeof text);
    put(V2 "/cpu.max", text, sizeof text);
    ck_assert_uint_eq(cgroup_cpu_limit(root.path), 0);
    put_text(V2 "/memory.max/in", "");
    ck_assert_uint_eq(cgroup_memory_limit(root.path), 0);
}

/* The test's own processors, of which a machine may leave it one only. */
TEST(processors_are_those_of_the_mask_and_of_the_groups)
{
    cpu_set_t all, one;
    size_t first = 0, count;

    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    count = (size_t)CPU_COUNT(&all);
    ck_assert_uint_eq(cgroup_processors(root.path), count);
    put_text(V2 "/cpu.max", "100000000 100000\n");
    ck_assert_uint_eq(cgroup_processors(root.path), count < 1000 ? count : 1000);
    put_text(V2 "/cpu.max", "10 100000\n");
    ck_assert_uint_eq(cgroup_processors(root.path), 1);
    put_text(V2 "/cpu.max", "max 100000\n");
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_uint_eq(cgroup_processors(root.path), 1);
    ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
}
