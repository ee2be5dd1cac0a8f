/* fit.h: how many tasks fit into memory at one time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* No limit, whatever control groups say. */
#define FIT_UNLIMITED UINT64_MAX

/* The most of `threads` threads (at least 1) that may take tasks at one time, so that any as many
 * of them fit into `limit` bytes (0 = what the control groups of this process may have, as when it
 * was first asked: os/cgroup.h) beside what this process has had at most so far.
 * `needs` has the bytes that each of the `count` tasks is thought to take, and is sorted. Never 0:
 * what does not fit alone runs alone. */
uint32_t fit_threads(uint32_t threads, uint64_t limit, uint64_t *needs, size_t count);
