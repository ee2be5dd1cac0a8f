/* memory.c: the one place that sees an allocation fail. */
#include "base/memory.h"

#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/context.h"

/* Whole files and outputs, which are wanted once, still come from mmap and go back at once. */
#define LARGE_BLOCK (4 << 20)

/* Of x86-64, and of ARM where small pages have 4 KB. */
#define LARGE_PAGE ((uintptr_t)2 << 20)

/* To ask for large pages takes as long as a dozen faults; and clearing hundreds of MB takes long
 * where a virtual machine's memory is not there yet. */
#define LEAST_EXPECTED ((size_t)4 << 20)
#define MOST_EXPECTED  ((size_t)128 << 20)

#define MOST_MAPPED_BLOCKS 65536 /* malloc's own value */

static bool is_kept; /* set before there are threads */

static size_t product(size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total))
        context_raise(LINK_NO_MEMORY);
    return total ? total : 1;
}

void *memory_alloc(size_t count, size_t size)
{
    void *block = malloc(product(count, size));

    if (!block)
        context_raise(LINK_NO_MEMORY);
    return block;
}

void *memory_zalloc(size_t count, size_t size)
{
    void *block = calloc(1, product(count, size));

    if (!block)
        context_raise(LINK_NO_MEMORY);
    return block;
}

void *memory_grow(void *array, size_t *capacity, size_t needed, size_t size)
{
    size_t wanted = *capacity ? *capacity : 8;
    void *grown;

    while (wanted < needed) {
        if (wanted > SIZE_MAX / 2)
            context_raise(LINK_NO_MEMORY);
        wanted *= 2;
    }
    grown = realloc(array, product(wanted, size));
    if (!grown)
        context_raise(LINK_NO_MEMORY);
    *capacity = wanted;
    return grown;
}

char *memory_copy_string(const char *data, size_t size)
{
    char *copy = memory_alloc(size + 1, 1);

    if (size)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

void memory_cleanup(void *array)
{
    void *block;

    memcpy(&block, array, sizeof block);
    free(block);
}

/* malloc takes what follows from the heap, whose end this moves. */
struct memory_range memory_expect(size_t bytes)
{
    struct memory_range range = {0};
    uintptr_t block, begin, end;

    if (!is_kept || bytes < LEAST_EXPECTED)
        return range;
    mallopt(M_MMAP_MAX, 0);
    block = (uintptr_t)malloc(bytes < MOST_EXPECTED ? bytes : MOST_EXPECTED);
    mallopt(M_MMAP_MAX, MOST_MAPPED_BLOCKS);
    begin = (block + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    end = (uintptr_t)sbrk(0);
    if (block && begin < end && madvise((void *)begin, end - begin, MADV_HUGEPAGE) == 0)
        range = (struct memory_range){begin, (end - begin) / LARGE_PAGE};
    free((void *)block);
    return range;
}

void memory_prepare(const struct memory_range *range, size_t part, size_t parts)
{
    size_t first = range->pages * part / parts;
    size_t last = range->pages * (part + 1) / parts;

    /* Kernels before 5.14 cannot: each page comes when it is met, then. */
    if (first < last)
        madvise((void *)(range->begin + first * LARGE_PAGE), (last - first) * LARGE_PAGE,
                MADV_POPULATE_WRITE);
}

void memory_keep_freed(void)
{
    is_kept = true;
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, LARGE_BLOCK); /* what is not used costs nothing */
}
