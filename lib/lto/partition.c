/* partition.c: puts neighbours into bundles, and bundles into parts, the costliest bundle first
 * into the part with the least cost.
 *
 * Kernels of one module share functions, which every part that reaches them compiles; so neighbours
 * stay together. But costs are estimates, with the same error throughout a module; so a part gets
 * bundles from all over the program. */
#include "lto/partition.h"

#include "base/search.h"

/* Number of bundles in a part, about. */
#define BUNDLES_OF_PART 8u

/* Measured on libnvJitLink 13.0 with 128 and 1,000 kernels in 139 KB and 837 KB of LTO-IR:
 * compiling takes 9 to 13 us per byte. Every part repeats 20 ms to start and to load the library,
 * as much as 2,200 bytes, and 60 ns for each byte that it reads, a 150th. Everything that parts
 * repeat should be at most a twentieth of the whole. A power of two leaves the fewest threads
 * without work at the end. */
#define BYTES_TO_START 2200u
#define BYTES_TO_READ  150u
#define PAID_AGAIN     20u

struct bundle {
    uint64_t cost;
    uint32_t first; /* first kernel */
    uint32_t end;   /* kernel after its last */
};

uint32_t partition_part_count(uint64_t bytes, size_t kernel_count)
{
    uint64_t again = BYTES_TO_START + bytes / BYTES_TO_READ;
    uint64_t worth = 1 + bytes / (PAID_AGAIN * again), count = 1;

    while (2 * count <= worth)
        count *= 2;
    if (count > kernel_count / PARTITION_FEWEST_KERNELS)
        count = kernel_count / PARTITION_FEWEST_KERNELS;
    return count ? (uint32_t)count : 1;
}

/* Costliest first; of equals, the one that comes first. */
COMPARISON(compare_by_weight, struct bundle,
           COMPARE(b->cost, a->cost) ?: COMPARE(a->first, b->first));

/* Cuts the kernels into bundles of at most that cost, or one kernel. Returns their number. */
static size_t make_bundles(struct bundle *bundles, const struct lto_kernel *kernels, size_t count,
                           uint64_t most)
{
    size_t made = 0;

    for (size_t i = 0; i < count; i++) {
        struct bundle *last = made ? &bundles[made - 1] : NULL;

        if (!last || last->cost + kernels[i].cost > most) {
            last = &bundles[made++];
            *last = (struct bundle){.first = (uint32_t)i};
        }
        last->cost += kernels[i].cost;
        last->end = (uint32_t)i + 1;
    }
    return made;
}

/* There are few parts, so looking at each costs less than a heap. */
static uint32_t find_lightest(const uint64_t *loads, uint32_t count)
{
    uint32_t lightest = 0;

    for (uint32_t i = 1; i < count; i++)
        if (loads[i] < loads[lightest])
            lightest = i;
    return lightest;
}

uint32_t *partition_kernels(struct arena *arena, const struct lto_kernel *kernels,
                            size_t kernel_count, uint32_t part_count)
{
    struct bundle *bundles = arena_alloc(arena, kernel_count, sizeof *bundles);
    uint64_t *loads = arena_zalloc(arena, part_count, sizeof *loads);
    uint32_t *parts = arena_alloc(arena, kernel_count, sizeof *parts);
    uint64_t total = 0;
    size_t count;

    for (size_t i = 0; i < kernel_count; i++)
        total += kernels[i].cost;
    /* Fewer bundles than parts would leave some empty. */
    count = make_bundles(bundles, kernels, kernel_count, total / (part_count * BUNDLES_OF_PART));
    if (count < part_count)
        count = make_bundles(bundles, kernels, kernel_count, 0);
    SORT(bundles, count, compare_by_weight);
    for (size_t i = 0; i < count; i++) {
        uint32_t part = find_lightest(loads, part_count);

        loads[part] += bundles[i].cost;
        for (uint32_t kernel = bundles[i].first; kernel < bundles[i].end; kernel++)
            parts[kernel] = part;
    }
    return parts;
}
