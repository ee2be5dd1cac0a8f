/* cgroup.h: what the control groups of this process leave it, as containers, systemd (CPUQuota=,
 * MemoryMax=) and batch systems set them.
 *
 * Both versions of Linux's interface, where everybody mounts them (cgroups(7)); the limits of the
 * process's own group and of all above it hold, and the smallest counts. A file that is missing or
 * makes no sense is no limit. `root` is put in front of each file's name: "" but in tests. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Processors whose time the groups may use, rounded up; 0 = no limit. */
uint64_t cgroup_cpu_limit(const char *root);

/* Bytes that the groups may have; 0 = no limit. */
uint64_t cgroup_memory_limit(const char *root);
