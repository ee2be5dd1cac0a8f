/* machine.h: how many processors and how much memory this process may use, and its heap.
 *
 * Limits are those of its control groups, as containers, systemd (CPUQuota=, MemoryMax=) and batch
 * systems set them.
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

/* Large pages of the heap. */
struct heap_range {
    uintptr_t begin;
    size_t pages;
};

/* For a program that does one thing and ends: keeps freed memory for the next allocation instead of
 * giving it back to the kernel, which would have to clear it again page by page (a quarter of the
 * time of assembling). Must be called first of all, and not by a library. */
void heap_keep_freed(void);

/* Such a program then takes allocations of about `bytes` in pages of 2 MB, where the kernel has
 * some: each page of 4 KB costs a fault (a fifth of a large merge's time). Other threads allocate
 * from the same heap from then on. Does nothing in other programs, or for few bytes. To be called
 * while there is one thread. Returns the range of pages, which may be empty. */
struct heap_range heap_expect(size_t bytes);

/* Gets one of `parts` parts of these pages from the kernel, which clears them: the threads of a
 * large merge share that work. Does not change their contents. */
void heap_prepare(const struct heap_range *range, size_t part, size_t parts);

/* Bytes of the process's memory, as the kernel counts them; 0 if it does not report them. */
struct heap_use {
    uint64_t mapped; /* its address space */
    uint64_t resident;
};

struct heap_use heap_use(void);
