/* main.c: runs the tests of one check_*.c. Each is a program of its own, so that what one breaks
 * does not hide the others, and helgrind can look at one alone.
 *
 * CK_VERBOSITY=verbose lists what passed, too; Check reads CK_RUN_CASE and CK_FORK itself. */
#include <stdlib.h>

#include "suite.h"

int main(void)
{
    SRunner *runner = srunner_create(check_suite());
    int failed;

    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
