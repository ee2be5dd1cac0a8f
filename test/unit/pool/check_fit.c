/* check_fit.c: how many tasks run at a time under a limit of memory. */
#include <check.h>

#include "pool/fit.h"
#include "suite.h"

#define GIB (UINT64_C(1) << 30)

TEST(without_a_limit_all_threads_take_tasks)
{
    uint64_t needs[] = {GIB, GIB, GIB};

    ck_assert_uint_eq(fit_threads(8, 0, needs, 3), 8);
    ck_assert_uint_eq(fit_threads(8, 1, needs, 0), 8);
}

TEST(the_largest_tasks_decide)
{
    /* The process itself has far less than a GiB, but not nothing. */
    uint64_t needs[] = {GIB, 100 * GIB, 2 * GIB, 50 * GIB};

    ck_assert_uint_eq(fit_threads(4, 101 * GIB, needs, 4), 1);
    ck_assert_uint_eq(fit_threads(4, 151 * GIB, needs, 4), 2);
    ck_assert_uint_eq(fit_threads(4, 153 * GIB, needs, 4), 3);
    ck_assert_uint_eq(fit_threads(2, 1000 * GIB, needs, 4), 2);
}

TEST(all_that_fit_at_once_leave_the_threads_as_they_are)
{
    uint64_t needs[] = {GIB, GIB};

    ck_assert_uint_eq(fit_threads(8, 3 * GIB, needs, 2), 8);
}

TEST(what_never_fits_runs_alone)
{
    uint64_t needs[] = {GIB, UINT64_MAX};

    ck_assert_uint_eq(fit_threads(8, 1, needs, 2), 1);
    ck_assert_uint_eq(fit_threads(8, GIB, needs, 2), 1);
    ck_assert_uint_eq(fit_threads(1, 1, needs, 2), 1);
}
