/* partition.h: distributes kernels to parts.
 *
 * Every part reads all modules, and keeps what its kernels need. The number of parts and their
 * contents depend only on the program and the options. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "lto/kernels.h"

/* Most parts. */
#define PARTITION_MOST_PARTS 256u

/* Fewer kernels than this are not worth a part. */
#define PARTITION_FEWEST_KERNELS 4u

/* The number of parts that a program of `kernel_count` kernels in `bytes` of LTO-IR is worth. */
uint32_t partition_part_count(uint64_t bytes, size_t kernel_count);

/* Distributes the kernels to `part_count` parts (at least 1; none of them is empty if there are at
 * least as many kernels), so that all have about the same cost and neighbours mostly stay together.
 * Returns the number of each kernel's part, in `arena`. */
uint32_t *partition_kernels(struct arena *arena, const struct lto_kernel *kernels,
                            size_t kernel_count, uint32_t part_count);
