/* check_heap.c: what a program says it will need comes from the heap, in large pages where there
 * are some, and changes nothing for a library. */
#include "os/machine.h"
#include "suite.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEGABYTE ((size_t)1 << 20)

/* Sanitizers' malloc has no heap that ends at the break. */
static bool has_heap(void)
{
    char *block = malloc(16);
    bool has = block < (char *)sbrk(0);

    free(block);
    return has;
}

/* Whether the kernel was asked for large pages at `address`. */
static bool is_advised(const void *address)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[512];
    bool is_here = false, is_advised = false;

    while (maps && fgets(line, sizeof line, maps)) {
        uintptr_t begin, end;

        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            is_here = (uintptr_t)address >= begin && (uintptr_t)address < end;
        else if (is_here && strncmp(line, "VmFlags:", 8) == 0)
            is_advised = strstr(line, " hg") != NULL;
    }
    if (maps)
        fclose(maps);
    return is_advised;
}

/* Kernels may have no large pages, and emulators may not tell. */
static bool can_be_advised(void)
{
    size_t size = 8 * MEGABYTE;
    char *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool can = place != MAP_FAILED && madvise(place, size, MADV_HUGEPAGE) == 0 && is_advised(place);

    if (place != MAP_FAILED)
        munmap(place, size);
    return can;
}

/* The heap's first block may begin before its first whole large page. */
TEST(what_is_expected_comes_in_large_pages)
{
    bool is_told = can_be_advised();

    if (!has_heap())
        return;
    heap_keep_freed();
    heap_expect(32 * MEGABYTE);
    for (unsigned i = 0; i < 10; i++) {
        char *block = malloc(2 * MEGABYTE);

        ck_assert_ptr_nonnull(block);
        memset(block, 1, 2 * MEGABYTE);
        ck_assert(block < (char *)sbrk(0));
        ck_assert(i == 0 || !is_told || is_advised(block));
    }
}

/* How many pages of these large ones are there. */
static size_t resident(const struct heap_range *range)
{
    size_t count = range->pages * 2 * MEGABYTE / (size_t)sysconf(_SC_PAGESIZE), found = 0;
    unsigned char *states = calloc(count, 1);

    ck_assert_int_eq(mincore((void *)range->begin, range->pages * 2 * MEGABYTE, states), 0);
    for (size_t i = 0; i < count; i++)
        found += states[i] & 1;
    free(states);
    return found * (size_t)sysconf(_SC_PAGESIZE) / (2 * MEGABYTE);
}

/* Kernels before 5.14 cannot. */
static bool can_be_prepared(void)
{
    size_t size = 4 * MEGABYTE;
    char *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct heap_range range = {((uintptr_t)place + 2 * MEGABYTE - 1) & -(2 * MEGABYTE), 1};
    bool can = place != MAP_FAILED && madvise(place, size, MADV_POPULATE_WRITE) == 0 &&
               resident(&range) == 1;

    if (place != MAP_FAILED)
        munmap(place, size);
    return can;
}

TEST(parts_of_it_are_there_before_they_are_met)
{
    struct heap_range range;
    size_t before, share;

    if (!has_heap() || !can_be_prepared())
        return;
    heap_keep_freed();
    range = heap_expect(32 * MEGABYTE);
    ck_assert_uint_ge(range.pages, 15);
    before = resident(&range); /* malloc's own note stands in one of them */
    ck_assert_uint_le(before, 1);
    heap_prepare(&range, 1, 3);
    share = range.pages * 2 / 3 - range.pages / 3;
    ck_assert_uint_ge(resident(&range), share);
    ck_assert_uint_le(resident(&range), share + before);
    heap_prepare(&range, 0, 3);
    heap_prepare(&range, 2, 3);
    ck_assert_uint_eq(resident(&range), range.pages);
}

TEST(blocks_beyond_it_are_mapped_as_before)
{
    char *block;

    if (!has_heap())
        return;
    heap_keep_freed();
    heap_expect(32 * MEGABYTE);
    block = malloc(64 * MEGABYTE);
    ck_assert(block > (char *)sbrk(0));
    free(block);
}

TEST(a_library_and_little_change_nothing)
{
    const char *end = sbrk(0);
    struct heap_range range = heap_expect(32 * MEGABYTE);

    heap_prepare(&range, 0, 1);
    ck_assert(end == (char *)sbrk(0));
    heap_keep_freed();
    heap_expect(MEGABYTE);
    ck_assert(end == (char *)sbrk(0));
}
