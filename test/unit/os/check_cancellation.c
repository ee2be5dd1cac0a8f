/* check_cancellation.c: who watches is called once it is set, however early that was, and not
 * behind that.
 */
#include "os/thread.h"

#include "suite.h"

static void count(void *argument)
{
    ++*(int *)argument;
}

TEST(it_is_set_for_good)
{
    struct cancellation stop;

    cancellation_make(&stop);
    ck_assert(!cancellation_is_set(&stop));
    cancellation_set(&stop);
    cancellation_set(&stop);
    ck_assert(cancellation_is_set(&stop));
    cancellation_end(&stop);
}

TEST(who_watches_is_called)
{
    struct cancellation stop;
    int calls = 0;

    cancellation_make(&stop);
    cancellation_watch(&stop, count, &calls);
    ck_assert_int_eq(calls, 0);
    cancellation_set(&stop);
    ck_assert_int_eq(calls, 1);
    cancellation_unwatch(&stop);
    cancellation_set(&stop);
    ck_assert_int_eq(calls, 1);
    cancellation_end(&stop);
}

TEST(who_watches_late_is_called_at_once)
{
    struct cancellation stop;
    int calls = 0;

    cancellation_make(&stop);
    cancellation_set(&stop);
    cancellation_watch(&stop, count, &calls);
    ck_assert_int_eq(calls, 1);
    cancellation_end(&stop);
}

TEST(none_is_never_set)
{
    int calls = 0;

    ck_assert(!cancellation_is_set(NULL));
    cancellation_watch(NULL, count, &calls);
    cancellation_unwatch(NULL);
    ck_assert_int_eq(calls, 0);
}
