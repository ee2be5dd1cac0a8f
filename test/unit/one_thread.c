/* one_thread.c: the pthread_create of unit tests that start no thread (-Wl,--wrap in the Makefile).
 * The build with the thread sanitizer leaves those out: one that starts a thread after all fails,
 * and says where its name belongs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    (void)thread, (void)attributes, (void)start, (void)argument;
    fprintf(stderr,
            "ERROR: a thread in a test that THREADED_TESTS of the Makefile does not name\n");
    abort();
}
