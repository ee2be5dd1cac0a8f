/* heap.c: whether malloc takes blocks from the heap, whose end it moves, or from mappings of their
 * own. */
#include "os/heap.h"

#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Larger blocks, such as whole files and outputs, are used once: they still come from mmap and go
 * back at once. */
#define LARGE_BLOCK (4 << 20)

/* Of x86-64, and of ARM where small pages have 4 KB. */
#define LARGE_PAGE ((uintptr_t)2 << 20)

/* Asking for large pages costs as much as a dozen faults; and clearing hundreds of MB is slow where
 * a virtual machine's memory is not backed yet. */
#define LEAST_EXPECTED ((size_t)4 << 20)
#define MOST_EXPECTED  ((size_t)128 << 20)

#define MOST_MAPPED_BLOCKS 65536      /* malloc's own value */
#define LARGEST_IN_HEAP    (32 << 20) /* the most that malloc takes for M_MMAP_THRESHOLD */

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

static bool is_kept; /* set before there are threads */

/* Moves the end of the heap, from which malloc takes the blocks that follow. */
struct heap_range heap_expect(size_t bytes)
{
    struct heap_range range = {0};
    uintptr_t block, begin, end;

    if (!is_kept || bytes < LEAST_EXPECTED)
        return range;
    /* Other threads' blocks, and arrays of all sections or symbols, come from there, too. */
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGEST_IN_HEAP);
    mallopt(M_MMAP_MAX, 0);
    block = (uintptr_t)malloc(bytes < MOST_EXPECTED ? bytes : MOST_EXPECTED);
    mallopt(M_MMAP_MAX, MOST_MAPPED_BLOCKS);
    begin = (block + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    end = (uintptr_t)sbrk(0);
    if (block && begin < end && madvise((void *)begin, end - begin, MADV_HUGEPAGE) == 0)
        range = (struct heap_range){begin, (end - begin) / LARGE_PAGE};
    free((void *)block);
    return range;
}

void heap_prepare(const struct heap_range *range, size_t part, size_t parts)
{
    size_t first = range->pages * part / parts;
    size_t last = range->pages * (part + 1) / parts;

    /* Fails before Linux 5.14: each page then comes at its first use. */
    if (first < last)
        madvise((void *)(range->begin + first * LARGE_PAGE), (last - first) * LARGE_PAGE,
                MADV_POPULATE_WRITE);
}

void heap_keep_freed(void)
{
    is_kept = true;
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, LARGE_BLOCK); /* unused pages cost nothing */
}

/* /proc/self/statm begins with both, in pages (proc(5)). */
struct heap_use heap_use(void)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long mapped = 0, resident = 0;

    if (file && fscanf(file, "%lu %lu", &mapped, &resident) != 2)
        mapped = resident = 0;
    if (file)
        fclose(file);
    return (struct heap_use){mapped * page, resident * page};
}
