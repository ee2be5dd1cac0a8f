/* cgroup.h: which processors and how much memory this process may use: what its control groups
 * leave it, as containers, systemd (CPUQuota=, MemoryMax=) and batch systems set them.
 *
 * Both versions of Linux's interface, where everybody mounts them (cgroups(7)); the limits of the
 * process's own group and of all above it hold, and the smallest counts. A file that is missing or
 * makes no sense is no limit. `root` is put in front of each file's name: "" but in tests. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Processors whose time the groups may use, rounded up; 0 = no limit. */
uint64_t cgroup_cpu_limit(const char *root);

/* Processors that this process may use: those that it may run on (sched_getaffinity(2), which
 * taskset, cpusets and batch systems set), but no more than cgroup_cpu_limit(). At least 1. */
size_t cgroup_processors(const char *root);

/* Bytes that the groups may have; 0 = no limit. */
uint64_t cgroup_memory_limit(const char *root);
