/* check_descriptor.c: descriptors that are kept off the standard ones. */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "suite.h"

/* Lets no further descriptor be opened. */
static void take_all(void)
{
    const struct rlimit limit = {.rlim_cur = 3, .rlim_max = 3};

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Whichever cannot be moved, neither stays open. */
TEST_LOOP(of_a_pair_that_cannot_be_moved_none_stays_open, 2)
{
    int fds[2] = {0, 0}, good;

    ck_assert_int_eq(pipe(fds), 0);
    good = fds[1];
    ck_assert_int_eq(dup2(fds[0], 0), 0);
    close(fds[0]);
    take_all();
    fds[_i] = 0;
    fds[!_i] = good;
    ck_assert(!descriptor_pair_above_standard(fds));
    ck_assert_int_eq(fcntl(0, F_GETFD), -1);
    ck_assert_int_eq(fcntl(good, F_GETFD), -1);
}
