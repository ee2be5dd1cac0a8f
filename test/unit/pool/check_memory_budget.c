/* check_memory_budget.c: how many tasks run at a time under a limit of memory. */
#include <sys/mman.h>
#include <sys/resource.h>

#include "pool/pool.h"
#include "suite.h"

#define GIB (UINT64_C(1) << 30)

TEST(without_a_limit_all_threads_take_tasks)
{
    uint64_t needs[] = {GIB, GIB, GIB};

    ck_assert_uint_eq(memory_budget_threads(8, 0, needs, 3), 8);
    ck_assert_uint_eq(memory_budget_threads(8, 1, needs, 0), 8);
}

TEST(the_largest_tasks_decide)
{
    /* The process itself has far less than a GiB, but not nothing. */
    uint64_t needs[] = {GIB, 100 * GIB, 2 * GIB, 50 * GIB};

    ck_assert_uint_eq(memory_budget_threads(4, 101 * GIB, needs, 4), 1);
    ck_assert_uint_eq(memory_budget_threads(4, 151 * GIB, needs, 4), 2);
    ck_assert_uint_eq(memory_budget_threads(4, 153 * GIB, needs, 4), 3);
    ck_assert_uint_eq(memory_budget_threads(2, 1000 * GIB, needs, 4), 2);
}

TEST(all_that_fit_at_once_leave_the_threads_as_they_are)
{
    uint64_t needs[] = {GIB, GIB};

    ck_assert_uint_eq(memory_budget_threads(8, 3 * GIB, needs, 2), 8);
}

/* What follows the needs is none. */
TEST(no_more_needs_are_read_than_there_are)
{
    uint64_t needs[] = {GIB, GIB, 0};

    ck_assert_uint_eq(memory_budget_threads(8, 3 * GIB, needs, 2), 8);
}

/* Once a process has had more memory than it needs, its peak stays where it is. */
TEST(a_task_may_take_all_that_is_left)
{
    size_t much = 64 << 20;
    char *block = mmap(NULL, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rusage usage;
    uint64_t needs[2], own;

    ck_assert_ptr_ne(block, MAP_FAILED);
    memset(block, 1, much);
    munmap(block, much);
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    own = (uint64_t)usage.ru_maxrss * 1024;
    for (unsigned more = 0; more < 2; more++) {
        needs[0] = needs[1] = GIB + more;
        ck_assert_uint_eq(memory_budget_threads(8, own + 2 * GIB, needs, 2), more ? 1 : 8);
    }
}

TEST(what_never_fits_runs_alone)
{
    uint64_t needs[] = {GIB, UINT64_MAX};

    ck_assert_uint_eq(memory_budget_threads(8, 1, needs, 2), 1);
    ck_assert_uint_eq(memory_budget_threads(8, GIB, needs, 2), 1);
    ck_assert_uint_eq(memory_budget_threads(1, 1, needs, 2), 1);
}
