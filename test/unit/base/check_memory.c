/* check_memory.c: what a program says it will need comes from the heap, in large pages where there
 * are some, and changes nothing for a library. */
#include "base/memory.h"
#include "suite.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static bool has_large_pages(void)
{
    return access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) == 0;
}

START_TEST(what_is_expected_comes_in_large_pages)
{
    char *block;

    if (!has_heap())
        return;
    memory_keep_freed();
    memory_expect(32 * MEGABYTE);
    for (unsigned i = 0; i < 10; i++) {
        block = memory_alloc(2, MEGABYTE);
        memset(block, 1, 2 * MEGABYTE);
        ck_assert(block < (char *)sbrk(0));
        if (has_large_pages())
            ck_assert(is_advised(block + MEGABYTE));
    }
}
END_TEST

START_TEST(blocks_beyond_it_are_mapped_as_before)
{
    char *block;

    if (!has_heap())
        return;
    memory_keep_freed();
    memory_expect(32 * MEGABYTE);
    block = memory_alloc(64, MEGABYTE);
    ck_assert(block > (char *)sbrk(0));
    free(block);
}
END_TEST

START_TEST(a_library_and_little_change_nothing)
{
    const char *end = sbrk(0);

    memory_expect(32 * MEGABYTE);
    ck_assert(end == (char *)sbrk(0));
    memory_keep_freed();
    memory_expect(MEGABYTE);
    ck_assert(end == (char *)sbrk(0));
}
END_TEST

Suite *check_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("memory");

    tcase_add_test(tests, what_is_expected_comes_in_large_pages);
    tcase_add_test(tests, blocks_beyond_it_are_mapped_as_before);
    tcase_add_test(tests, a_library_and_little_change_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
