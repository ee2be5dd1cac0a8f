/* partition.h: which kernels are compiled in which part.
 *
 * Every part reads all modules, and keeps what its kernels need. How many parts there are, and what
 * is in each, follows from the program and the options alone. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "lto/kernels.h"

/* Most parts. */
#define PARTITION_MOST_PARTS 256u

/* Fewer kernels than this are not worth a part. */
#define PARTITION_FEWEST_KERNELS 4u

/* How many parts a program of `kernel_count` kernels in `bytes` of LTO-IR is worth. */
uint32_t partition_part_count(uint64_t bytes, size_t kernel_count);

/* Deals the kernels to `part_count` parts (at least 1; of which none is empty when there are as
 * many kernels), such that all cost about as much and neighbours mostly stay together. Returns the
 * number of each kernel's part, in `arena`. */
uint32_t *partition_kernels(struct arena *arena, const struct lto_kernel *kernels,
                            size_t kernel_count, uint32_t part_count);
