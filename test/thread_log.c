/* thread_log.c: the pthread_create of what is built with the address sanitizer (-Wl,--wrap in the
 * Makefile). Where THREAD_LOG names a file, a program that starts a thread writes its name there:
 * the build with the thread sanitizer runs the goldens and jobs that test/threaded names, and
 * another one that starts a thread fails. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    const char *path = getenv("THREAD_LOG");
    int old = errno, file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

    if (file >= 0) {
        dprintf(file, "%s\n", program_invocation_short_name);
        close(file);
    }
    errno = old;
    return __real_pthread_create(thread, attributes, start, argument);
}
