/* processors.h: how many processors this process may use. */
#pragma once

#include <stddef.h>

/* Those that it may run on (sched_getaffinity(2), which taskset, cpusets and batch systems set),
 * but no more than the time that its control groups leave it is worth (cgroup.h). At least 1.
 * `root` is put in front of the names of the groups' files: "" but in tests. */
size_t processors_count(const char *root);
