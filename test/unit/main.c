/* main.c: runs the tests of one check_*.c. Each is a program of its own, so that what one breaks
 * does not hide the others, and helgrind can look at one alone.
 *
 * CK_VERBOSITY=verbose lists what passed, too; Check reads CK_RUN_CASE and CK_FORK itself. */
#include <errno.h>
#include <stdarg.h>

#include "suite.h"

/* Check kills a test after 4 seconds, which on a busy machine some take. This only ends what hangs.
 */
#define MOST_SECONDS 600

static Suite *suite;

void suite_add(const TTest *test, int first, int end)
{
    TCase *alone = tcase_create(test->name);

    if (!suite)
        suite = suite_create(program_invocation_short_name);
    tcase_set_timeout(alone, MOST_SECONDS);
    tcase_add_checked_fixture(alone, set_up, tear_down);
    tcase_add_loop_test(alone, test, first, end);
    suite_add_tcase(suite, alone);
}

char *suite_print(const char *format, ...)
{
    static char *kept[64];
    static unsigned next;
    char **place = &kept[next++ % COUNT(kept)];
    va_list arguments;

    free(*place);
    va_start(arguments, format);
    ck_assert_int_ge(vasprintf(place, format, arguments), 0);
    va_end(arguments);
    return *place;
}

int main(void)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
