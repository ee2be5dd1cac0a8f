/* cgroup.h: how many processors and how much memory this process may use: the limits of its control
 * groups, as containers, systemd (CPUQuota=, MemoryMax=) and batch systems set them.
 *
 * Both versions of Linux's interface, at their usual mount points (cgroups(7)). The limits of the
 * process's own group and of all its parents apply; the smallest counts. A missing or malformed
 * file is no limit. `root` is prepended to each file's name; "" except in tests. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Processors whose time, and bytes of memory that, the groups may use, rounded up; 0 = no limit. */
uint64_t cgroup_cpu_limit(const char *root);
uint64_t cgroup_memory_limit(const char *root);

/* Processors that this process may use: those that it may run on (sched_getaffinity(2), which
 * taskset, cpusets and batch systems set), but no more than cgroup_cpu_limit(). At least 1. */
size_t cgroup_processors(const char *root);
